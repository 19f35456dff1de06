use std::os::unix::net::UnixStream as StdStream;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

fn on_runtime(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(test);
}

#[test]
fn pipes_are_watched_by_the_reactor() {
    on_runtime(async {
        let (reader, writer) = io::pipe().expect("a pipe");
        let mut input = Input::of(&reader).expect("an input");
        let mut output = Output::of(&writer).expect("an output");
        assert!(matches!((&input, &output), (Input::Pipe(_), Output::Pipe(_))));
        output.write_all(b"hello\n").await.expect("write");
        output.flush().await.expect("flush");
        let mut got = [0; 6];
        input.read_exact(&mut got).await.expect("read");
        assert_eq!(&got, b"hello\n");
    });
}

#[test]
fn sockets_are_watched_too() {
    on_runtime(async {
        let (ours, theirs) = StdStream::pair().expect("a pair");
        let mut input = Input::of(&ours).expect("an input");
        let mut output = Output::of(&theirs).expect("an output");
        assert!(matches!((&input, &output), (Input::Socket(_), Output::Socket(_))));
        output.write_all(b"hello\n").await.expect("write");
        output.shutdown().await.expect("shut down");
        let mut got = String::new();
        input.read_to_string(&mut got).await.expect("read to the end");
        assert_eq!(got, "hello\n");
    });
}

#[test]
fn files_go_the_slow_way() {
    on_runtime(async {
        let file = File::open("/dev/null").expect("a file");
        assert!(matches!(Input::of(&file).expect("an input"), Input::Other(_)));
        assert!(matches!(Output::of(&file).expect("an output"), Output::Other(_)));
    });
}
