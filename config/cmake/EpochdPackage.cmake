# What `cmake --install` puts where, and the Debian package made of the same: `cpack -G DEB`.
include(GNUInstallDirs)

configure_file(${CMAKE_SOURCE_DIR}/config/systemd/epochd.service.in
  ${CMAKE_BINARY_DIR}/epochd.service @ONLY)

install(TARGETS epochd epoch RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Settings that are there already are somebody's own.
install(CODE "
  set(SETTINGS_DIR \"${CMAKE_INSTALL_FULL_SYSCONFDIR}/epochd\")
  if(NOT EXISTS \"\$ENV{DESTDIR}\${SETTINGS_DIR}/epochd.yaml\")
    file(INSTALL \"${CMAKE_SOURCE_DIR}/config/epochd.yaml\" DESTINATION \"\${SETTINGS_DIR}\")
  endif()")
install(FILES ${CMAKE_BINARY_DIR}/epochd.service DESTINATION lib/systemd/system)
install(FILES ${CMAKE_SOURCE_DIR}/config/systemd/epochd.sysusers
  DESTINATION lib/sysusers.d RENAME epochd.conf)
install(FILES ${CMAKE_SOURCE_DIR}/config/systemd/epochd.tmpfiles
  DESTINATION lib/tmpfiles.d RENAME epochd.conf)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/docs/operations.md
  ${CMAKE_SOURCE_DIR}/LICENSE-APACHE ${CMAKE_SOURCE_DIR}/LICENSE-MIT
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The unit names the programs by their final place.
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME epochd)
set(CPACK_PACKAGE_VENDOR epochd)
set(CPACK_PACKAGE_CONTACT "the authors of epochd <epochd@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Prover of RISC-V programs, as a service")
set(CPACK_SET_DESTDIR ON)  # the settings go to /etc
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS systemd)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${CMAKE_SOURCE_DIR}/config/systemd/postinst ${CMAKE_SOURCE_DIR}/config/systemd/prerm
  ${CMAKE_SOURCE_DIR}/config/systemd/postrm ${CMAKE_SOURCE_DIR}/config/systemd/conffiles)
include(CPack)
