# Entry of a proved guest. Every register is 0 and memory outside the file is zero when it starts
# (docs/machine.md, "The statement"), so nothing is cleared here: no .bss loop, no argc and argv.
# Exits with main's value.
    .section .text.start, "ax", @progbits
    .globl _start
    .type _start, @function
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    li sp, 0xC0000000  # __stack_top of guest.ld: below the input region, out of `la`'s reach
    call main
    li a7, 93
    ecall
    .size _start, . - _start

# The SDK's mark: 8 bytes that say which SDK made the program.
    .section .rodata.mark, "a", @progbits
    .ascii "epochd-1"
