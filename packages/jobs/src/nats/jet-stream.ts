/**
 * JetStream of a link, with errors as sentences, and calls that are repeated while the link
 * reconnects.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  jetstream,
  jetstreamManager,
  JetStreamApiError,
  JetStreamApiCodes,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
} from '@nats-io/jetstream'
import { errors } from '@nats-io/transport-node'
import { missingPermission, OptionError, messageOf, type NatsLink } from '@shardlab/nats'
import { ByteWindow } from './byte-window.js'
import { consumerName } from './names.js'

const retryEveryMs = 200

export interface JetStream {
  readonly link: NatsLink
  readonly client: JetStreamClient
  readonly manager: JetStreamManager
  readonly sending: ByteWindow
  readonly receiving: ByteWindow
}

/** @throws OptionError if the server has no JetStream */
export async function openJetStream(link: NatsLink): Promise<JetStream> {
  try {
    const { connection } = link
    return {
      ...{ link, client: jetstream(connection), manager: await jetstreamManager(connection) },
      ...{ sending: new ByteWindow(), receiving: new ByteWindow() },
    }
  } catch (error) {
    throw refusal(link, error)
  }
}

/**
 * Repeats the call while the server does not answer.
 * @throws OptionError if the server is gone or refuses
 */
export async function persist<Result>({ link }: JetStream, call: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      const gone = link.error()
      if (gone !== null) throw gone
      if (link.connection.isClosed() || !isTransient(error)) throw refusal(link, error)
      await sleep(retryEveryMs)
    }
  }
}

/**
 * @param lastSeq of the subject, or the message is refused; undefined: any
 * @returns the sequence number
 * @throws an error that {@link isNotFound} if the stream was removed, {@link isOvertaken} if
 *   another message has the subject
 */
export function publish(
  jetStream: JetStream,
  stream: string,
  subject: string,
  bytes: Uint8Array,
  lastSeq?: number,
): Promise<number> {
  const { client, manager, sending } = jetStream
  const options = lastSeq === undefined ? {} : { expect: { lastSubjectSequence: lastSeq } }
  return sending.during(bytes.length, () =>
    persist(jetStream, async () => {
      try {
        return (await client.publish(subject, bytes, options)).seq
      } catch (error) {
        // A removed stream and a restarting server do not answer.
        if (isTransient(error)) await manager.streams.info(stream)
        throw error
      }
    }),
  )
}

/**
 * Acknowledges a job until the server has confirmed it: an acknowledgement may be lost, and then
 * the job would be given to another worker. The client's `ackAck` sends it only once.
 *
 * @param timeoutMs of one confirmation
 * @throws an error that {@link isNotFound} if the run was removed
 */
export async function acknowledge(
  jetStream: JetStream,
  stream: string,
  message: JsMsg,
  timeoutMs: number,
): Promise<void> {
  const { link, manager } = jetStream
  // The class of the client has it, its type does not.
  const { reply } = message as JsMsg & { readonly reply: string }
  await persist(jetStream, async () => {
    try {
      await link.connection.request(reply, done, { timeout: timeoutMs })
    } catch (error) {
      // A removed consumer does not answer.
      if (isTransient(error)) await manager.consumers.info(stream, consumerName)
      throw error
    }
  })
}

const done = new TextEncoder().encode('+ACK')

/**
 * Also the error of a stream that a restarting server has not opened yet. A missing permission
 * stays missing.
 */
function isTransient(error: unknown): boolean {
  if ((error as Error).cause instanceof errors.PermissionViolationError) return false
  return error instanceof errors.TimeoutError || error instanceof errors.RequestError || hasNoJetStream(error)
}

/** The stream or its consumer was removed, also while the server was asked for a job. */
export const isNotFound = (error: unknown): boolean =>
  [JetStreamApiCodes.StreamNotFound, JetStreamApiCodes.ConsumerNotFound].some((code) => code === codeOf(error)) ||
  /^(consumer|stream) deleted/i.test(messageOf(error))

/**
 * A worker that waited for a job got no answer, or a status such as that of a server that shuts
 * down. The next request shows why.
 */
export const isSilence = (error: unknown): boolean =>
  messageOf(error).startsWith('heartbeats missed') || (error as Error).name === 'JetStreamStatusError'

export const isNoMessage = (error: unknown): boolean => codeOf(error) === JetStreamApiCodes.NoMessageFound

/** Another client has published to the subject first. */
export const isOvertaken = (error: unknown): boolean => codeOf(error) === JetStreamApiCodes.StreamWrongLastSequence

/** A job with this key waits or is being played. */
export const isAlreadyThere = (error: unknown): boolean => /per subject exceeded/.test(messageOf(error))

/** The client does not export the class. */
const hasNoJetStream = (error: unknown): boolean => (error as Error).name === 'JetStreamNotEnabled'

const codeOf = (error: unknown): number | null => (error instanceof JetStreamApiError ? error.code : null)

function refusal({ address }: NatsLink, error: unknown): Error {
  const isExpected = [isNotFound, isNoMessage, isAlreadyThere, isOvertaken, isSilence].some((test) => test(error))
  if (error instanceof OptionError || isExpected) return error as Error
  const permission = missingPermission(address, error)
  if (permission !== null) return new OptionError(permission)
  const text = messageOf(error)
  if (hasNoJetStream(error) || /jetstream not enabled/i.test(text))
    return new OptionError(`NATS at ${address} has no JetStream: start nats-server with -js and a folder, -sd`)
  if (/insufficient|exceeded|resources/i.test(text))
    return new OptionError(`NATS at ${address} has no room for the jobs: ${text}. Raise its limits of JetStream`)
  return new OptionError(`NATS at ${address} refuses: ${text}`)
}
