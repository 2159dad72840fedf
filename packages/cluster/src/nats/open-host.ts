import { createDeferred } from '@shardlab/actor'
import type { NatsOptions } from '@shardlab/nats'
import { Machine } from '@shardlab/runtime/nats'
import { OptionError } from '../option-error.js'
import { isUnspecified } from '../own-name.js'
import { lazyRoles } from '../roles.js'
import { version } from '../version.js'
import { openBroker, refusing } from './open-broker.js'

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
  /** Resolves with a sentence if the host ends because NATS refuses it, or another has its name. */
  readonly gone: Promise<OptionError>
  /** Ends its members. */
  close(): Promise<void>
}

/**
 * Offers this process to clusters on the NATS server: it runs the members that they place here.
 * @throws OptionError the server cannot be reached, or the name or the address cannot be used
 */
export async function openHost({ name, host, dbPath, onNews, ...server }: HostOptions): Promise<OpenHost> {
  if (host !== undefined && isUnspecified(host))
    throw new OptionError(`clients cannot connect to ${host}: give the address of this machine as host.`)
  const opened = await openBroker(server, `shardlab host ${name}`, (error) =>
    onNews?.(`a message of NATS was lost: ${String(error)}`),
  )
  const gone = createDeferred<OptionError>()
  opened.onGone(({ message }) => gone.resolve(new OptionError(message)))
  const machine = await refusing(opened, () =>
    Machine.open({
      broker: opened.broker,
      name,
      roles: lazyRoles,
      version,
      onReplaced: () => gone.resolve(new OptionError(`another host is named ${name}: choose another name.`)),
      ...(host === undefined ? {} : { host }),
      ...(dbPath === undefined ? {} : { folder: dbPath }),
      ...(onNews === undefined ? {} : { onNews }),
    }),
  )
  return {
    name,
    gone: gone.promise,
    async close() {
      machine.close()
      await opened.broker.close()
    },
  }
}
