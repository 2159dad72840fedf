import { connectNats, type NatsOptions } from '@shardlab/nats'
import { NatsBroker } from '@shardlab/runtime/nats'
import { OptionError } from '../option-error.js'

export interface OpenBroker {
  readonly broker: NatsBroker
  /** Called once if the connection ends for good, such as after a changed password. */
  onGone(listener: (error: Error) => void): void
}

/**
 * @param name of this client, as tools of NATS show it
 * @throws OptionError the server cannot be reached, or refuses
 */
export async function openBroker(
  server: NatsOptions,
  name: string,
  onError: (error: unknown) => void,
): Promise<OpenBroker> {
  const link = await connectNats({ ...server, goneMs: null }, name)
  return {
    broker: new NatsBroker(link.connection, () => link.close(), onError),
    onGone: (listener) => link.onGone(listener),
  }
}

/** Closes the broker, and makes an OptionError of its errors. */
export async function refusing<T>({ broker }: OpenBroker, use: () => T | Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    await broker.close()
    if (error instanceof Error && error.name === 'BrokerError') throw new OptionError(error.message)
    throw error
  }
}
