/** Splits what exceeds the server's `max_payload`, or what a slow link passes quickly. */
import { OptionError, type NatsLink } from '@shardlab/nats'

/** Of a message around its bytes. */
const envelopeBytes = 256
const payloadBytesMin = 1024
/** Several parts are in a {@link ByteWindow} at a time. */
const partBytesMax = 32 * 1024

/** @throws OptionError if the server allows only tiny messages */
export function partBytesOf({ connection, address }: NatsLink): number {
  const { max_payload: payloadBytes } = connection.info!
  if (payloadBytes < payloadBytesMin)
    throw new OptionError(
      `NATS at ${address} allows messages of ${payloadBytes} bytes, and jobs need ${payloadBytesMin}: raise its max_payload`,
    )
  return Math.min(partBytesMax, payloadBytes - envelopeBytes)
}

/** At least one part. */
export function split(bytes: Uint8Array, partBytes: number): Uint8Array[] {
  const parts: Uint8Array[] = []
  for (let at = 0; at === 0 || at < bytes.length; at += partBytes) parts.push(bytes.subarray(at, at + partBytes))
  return parts
}

export function join(parts: readonly Uint8Array[]): Uint8Array {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}
