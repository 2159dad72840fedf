import { connectNats, type NatsOptions } from '@shardlab/nats'
import { Machine, NatsBroker } from '@shardlab/runtime/nats'
import { OptionError } from '../option-error.js'
import { lazyRoles } from '../roles.js'
import { version } from '../version.js'

export interface HostOptions extends Omit<NatsOptions, 'goneMs'> {
  /** Letters, digits, `_` and `-`. */
  readonly name: string
  /** Address where clients reach the members. Default 127.0.0.1. */
  readonly host?: string
  /** An existing folder for the disks of members. Default: they are in memory. */
  readonly dbPath?: string
  /** Called with sentences such as `H1 is part of the cluster x7k2m9qp`. */
  readonly onNews?: (sentence: string) => void
}

export interface OpenHost {
  readonly name: string
  /** Ends its members. */
  close(): Promise<void>
}

/**
 * Offers this process to clusters on the NATS server: it runs members of the one that takes it.
 * @throws OptionError the server cannot be reached, or the name cannot be used
 */
export async function openHost({ name, host, dbPath, onNews, ...server }: HostOptions): Promise<OpenHost> {
  const link = await connectNats({ ...server, goneMs: null }, `shardlab host ${name}`)
  const broker = new NatsBroker(link.connection, () => link.close())
  try {
    const machine = await Machine.open({
      broker,
      name,
      roles: lazyRoles,
      version,
      ...(host === undefined ? {} : { host }),
      ...(dbPath === undefined ? {} : { folder: dbPath }),
      ...(onNews === undefined ? {} : { onNews }),
    })
    return {
      name,
      async close() {
        machine.close()
        await broker.close()
      },
    }
  } catch (error) {
    await broker.close()
    if (error instanceof Error && error.name === 'BrokerError') throw new OptionError(error.message)
    throw error
  }
}
