# Entry of the same guest as a Linux program under qemu-riscv64: the kernel made the stack, the
# input region is mapped and filled from standard input before main.
    .section .text.start, "ax", @progbits
    .globl _start
    .type _start, @function
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    call epochd_qemu_start
    call main
    li a7, 93
    ecall
    .size _start, . - _start

# The SDK's mark: 8 bytes that say which SDK made the program.
    .section .rodata.mark, "a", @progbits
    .ascii "epochd-1"
