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
} from '@nats-io/jetstream'
import { errors } from '@nats-io/transport-node'
import { OptionError, messageOf, type NatsLink } from '@shardlab/nats'

const retryEveryMs = 200

export interface JetStream {
  readonly link: NatsLink
  readonly client: JetStreamClient
  readonly manager: JetStreamManager
}

/** @throws OptionError if the server has no JetStream */
export async function openJetStream(link: NatsLink): Promise<JetStream> {
  try {
    return { link, client: jetstream(link.connection), manager: await jetstreamManager(link.connection) }
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
 * @returns the sequence number
 * @throws an error that {@link isNotFound} if the stream was removed
 */
export function publish(jetStream: JetStream, stream: string, subject: string, bytes: Uint8Array): Promise<number> {
  return persist(jetStream, async () => {
    try {
      return (await jetStream.client.publish(subject, bytes)).seq
    } catch (error) {
      // A removed stream and a restarting server do not answer.
      if (isTransient(error)) await jetStream.manager.streams.info(stream)
      throw error
    }
  })
}

/** Also the error of a stream that a restarting server has not opened yet. */
function isTransient(error: unknown): boolean {
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

/** A job with this key waits or is being played. */
export const isAlreadyThere = (error: unknown): boolean => /per subject exceeded/.test(messageOf(error))

/** The client does not export the class. */
const hasNoJetStream = (error: unknown): boolean => (error as Error).name === 'JetStreamNotEnabled'

const codeOf = (error: unknown): number | null => (error instanceof JetStreamApiError ? error.code : null)

function refusal({ address }: NatsLink, error: unknown): Error {
  const isExpected = [isNotFound, isNoMessage, isAlreadyThere, isSilence].some((test) => test(error))
  if (error instanceof OptionError || isExpected) return error as Error
  const text = messageOf(error)
  if (hasNoJetStream(error) || /jetstream not enabled/i.test(text))
    return new OptionError(`NATS at ${address} has no JetStream: start nats-server with -js and a folder, -sd`)
  if (/insufficient|exceeded|resources/i.test(text))
    return new OptionError(`NATS at ${address} has no room for the jobs: ${text}. Raise its limits of JetStream`)
  if (error instanceof errors.PermissionViolationError)
    return new OptionError(
      `NATS at ${address} does not allow the user this: ${text}. Jobs need $JS.API.> and shardlab.>`,
    )
  return new OptionError(`NATS at ${address} refuses: ${text}`)
}
