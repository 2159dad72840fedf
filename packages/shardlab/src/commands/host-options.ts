import type { Command } from 'commander'
import { describe } from './help-text.js'
import { addNatsFlags, type NatsFlags } from './nats-flags.js'

export interface HostCommandOptions extends NatsFlags {
  readonly nats: string
  readonly name: string
  readonly host: string
  readonly dbpath?: string
}

export function addHostCommand(program: Command, run: (options: HostCommandOptions) => Promise<void>): void {
  const command = describe(
    program.command('host'),
    'Offer this machine to clusters: it runs the members that up --nats places here.',
    `  shardlab host --nats nats://10.0.0.5:4222 --name H1 --host 10.0.0.11
  shardlab up --nats nats://10.0.0.5:4222 --machines H1,H2,H3 --members 3`,
  )
  command
    .optionsGroup('This host:')
    .requiredOption('--name <name>', 'letters, digits, _ and -; one host of a NATS server has a name')
    .option('--host <h>', 'address where clients reach the members', '127.0.0.1')
    .option('--dbpath <dir>', 'keep the disks of members here (default: in memory)')
  addNatsFlags(command.optionsGroup('NATS:'), 'the server, as nats://host:4222')
    .optionsGroup('Help:')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
A host runs members of any number of clusters. It ends those of a cluster that has stopped, or was
silent for a minute. A host that was killed and starts again gets its members back; without --dbpath
their disks are empty, and members of a set copy the data of the others.

Exit codes:
  0    ended by a signal
  2    wrong usage, no NATS server, or another host has the name
  3    internal error`,
    )
    .action(run)
}
