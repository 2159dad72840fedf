import { OptionError } from '@shardlab/cluster'
import { openHost } from '@shardlab/cluster/host'
import { existsSync } from 'node:fs'
import { untilSignal } from '../signals.js'
import type { HostCommandOptions } from './host-options.js'
import { natsOptions } from './nats-flags.js'

/** Ends with SIGINT or SIGTERM. @throws OptionError */
export async function host({ name, host: address, dbpath, ...flags }: HostCommandOptions): Promise<void> {
  const server = natsOptions(flags)
  if (server === null)
    throw new OptionError('--nats is missing: give the address of the server, such as nats://127.0.0.1:4222.')
  if (dbpath !== undefined && !existsSync(dbpath))
    throw new OptionError(`${dbpath} does not exist: create the directory, or choose another one for --dbpath.`)
  const stopped = untilSignal(false)
  const opened = await openHost({
    ...server,
    name,
    host: address,
    ...(dbpath === undefined ? {} : { dbPath: dbpath }),
    onNews: (sentence) => process.stdout.write(`${sentence}\n`),
  })
  process.stdout.write(`${name} offers this machine to clusters.\n`)
  await stopped
  await opened.close()
}
