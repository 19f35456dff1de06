import nox


@nox.session(venv_backend="none")
def tests(session):
    session.run("python3", "-m", "unittest", "-v")


@nox.session(venv_backend="none")
def docs(session):
    session.log("nothing to build")
