import { OptionError } from '@shardlab/cluster'
import { openHost } from '@shardlab/cluster/host'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { exitCodes } from '../exit-codes.js'
import { untilSignal } from '../signals.js'
import type { HostCommandOptions } from './host-options.js'
import { natsOptions } from './nats-flags.js'

const stopGraceMs = 2000

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
  const gone = await Promise.race([stopped, opened.gone])
  // Without a connection, NATS does not answer.
  await Promise.race([opened.close(), sleep(stopGraceMs)])
  if (gone instanceof OptionError) throw gone
  process.exit(exitCodes.fine)
}
