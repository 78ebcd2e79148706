// A driver's management library with one GPU that is too hot and has somebody's process.
extern "C" {

int nvmlInit_v2() {
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 1;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned, void** device) {
  static int gpu;
  *device = &gpu;
  return 0;
}
int nvmlDeviceGetName(void*, char* name, unsigned) {
  __builtin_strcpy(name, "A Fake GPU");
  return 0;
}
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* reasons) {
  *reasons = 0x44;  // at its power cap, which is nothing, and in thermal slowdown
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void*) {
  *count = 1;
  return 7;  // NVML_ERROR_INSUFFICIENT_SIZE: that is how many there would be
}

}  // extern "C"
