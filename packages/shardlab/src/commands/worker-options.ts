import type { Command } from 'commander'
import { count } from './argument-parsers.js'
import { describe } from './help-text.js'
import { addNatsFlags, type NatsFlags } from './nats-flags.js'

export interface WorkerCommandOptions extends NatsFlags {
  readonly concurrency?: number
  readonly allowCode?: true
}

export function addWorkerCommand(program: Command, run: (options: WorkerCommandOptions) => Promise<void>): void {
  const command = describe(
    program.command('worker'),
    'Play jobs of swarm, simulate and load with --nats, until it is stopped.\nStart workers on any machine that reaches the server of NATS.',
    `  shardlab worker --nats nats://127.0.0.1:4222
  shardlab worker --nats nats://user:password@build1:4222 --concurrency 4
  shardlab worker --nats tls://build1:4222 --nats-creds worker.creds --nats-tls-ca ca.pem`,
  )
  command.optionsGroup('Jobs:')
  addNatsFlags(command, 'server of NATS with JetStream, as nats://host:4222 or tls://host:4222')
    .option('--concurrency <n>', 'jobs at a time (default: one per core)', count)
    .option('--allow-code', 'run the JavaScript modules of custom policies, with all your permissions')
    .optionsGroup('Help:')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Ctrl-C stops after the jobs in progress. Pressed again, it gives them to other workers.

Exit codes:
  0    stopped
  2    wrong usage, or the server cannot be used or is gone
  3    internal error
  130  ended by Ctrl-C
  143  ended by SIGTERM`,
    )
    .action(run)
}
