# What `cmake --install` puts where, and the Debian package made of the same: `cpack -G DEB`.
include(GNUInstallDirs)

# The unit names the programs by their final place, which `cmake --install --prefix` may still
# choose: it is made when it is installed. The tests look at the one for the configured prefix.
configure_file(${CMAKE_SOURCE_DIR}/config/systemd/epochd.service.in
  ${CMAKE_BINARY_DIR}/epochd.service @ONLY)
install(TARGETS epochd epoch RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(CODE "
  set(CMAKE_INSTALL_BINDIR \"${CMAKE_INSTALL_BINDIR}\")
  set(CMAKE_INSTALL_DOCDIR \"${CMAKE_INSTALL_DOCDIR}\")
  set(CMAKE_INSTALL_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")
  set(CMAKE_INSTALL_SYSCONFDIR \"${CMAKE_INSTALL_SYSCONFDIR}\")
  include(GNUInstallDirs)
  set(UNIT \"${CMAKE_BINARY_DIR}/install/epochd.service\")
  configure_file(\"${CMAKE_SOURCE_DIR}/config/systemd/epochd.service.in\" \"\${UNIT}\" @ONLY)
  file(INSTALL \"\${UNIT}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/system\")
  # Settings that are there already are somebody's own.
  set(SETTINGS_DIR \"\${CMAKE_INSTALL_FULL_SYSCONFDIR}/epochd\")
  if(NOT EXISTS \"\$ENV{DESTDIR}\${SETTINGS_DIR}/epochd.yaml\")
    file(INSTALL \"${CMAKE_SOURCE_DIR}/config/epochd.yaml\" DESTINATION \"\${SETTINGS_DIR}\")
  endif()")
install(FILES ${CMAKE_SOURCE_DIR}/config/systemd/epochd.sysusers
  DESTINATION lib/sysusers.d RENAME epochd.conf)
install(FILES ${CMAKE_SOURCE_DIR}/config/systemd/epochd.tmpfiles
  DESTINATION lib/tmpfiles.d RENAME epochd.conf)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/docs/operations.md
  ${CMAKE_SOURCE_DIR}/LICENSE-APACHE ${CMAKE_SOURCE_DIR}/LICENSE-MIT
  ${CMAKE_SOURCE_DIR}/config/systemd/copyright
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME epochd)
set(CPACK_PACKAGE_VENDOR epochd)
set(CPACK_PACKAGE_CONTACT "the authors of epochd <epochd@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Prover of RISC-V programs, as a service")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Jobs are dropped into a queue directory. The daemon runs each program, proves the run epoch by
epoch, on NVIDIA devices where there are any, and publishes a proof that anybody can verify
with the program alone.")
set(CPACK_SET_DESTDIR ON)  # the settings go to /etc
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Who makes the user; a container may have only that part of systemd.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "systemd | systemd-standalone-sysusers")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS systemd)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${CMAKE_SOURCE_DIR}/config/systemd/postinst ${CMAKE_SOURCE_DIR}/config/systemd/prerm
  ${CMAKE_SOURCE_DIR}/config/systemd/postrm ${CMAKE_SOURCE_DIR}/config/systemd/conffiles)
include(CPack)
