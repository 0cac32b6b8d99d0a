# tslp in an image with nothing else in it: static, and not root.
#
#   docker build -t tslp .
#   docker run --network host -v "$PWD:/workspace:ro" -v tslp:/data -e TSLP_TOKEN=… tslp --upstream http://127.0.0.1:11434
# The image's user is another one than you: docs/install.md.
FROM rust:1-alpine AS build
RUN apk add --no-cache musl-dev gcc
WORKDIR /src
COPY . .
RUN cargo build --release --locked -p tslp-io && mkdir /data && cp target/release/tslp /tslp

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /tslp /usr/bin/tslp
COPY --from=build --chown=nonroot:nonroot /data /data
VOLUME /data
EXPOSE 4141
# With another network than the host's: add --listen 0.0.0.0:4141 and TSLP_TOKEN.
# Each project has a folder of its own in the volume, though all are at one path.
ENV XDG_DATA_HOME=/data
ENTRYPOINT ["/usr/bin/tslp", "serve", "--workspace", "/workspace"]
