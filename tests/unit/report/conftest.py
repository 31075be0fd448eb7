from support.recorded import gjm_file, gjm_folder, gjm_run  # noqa: F401
