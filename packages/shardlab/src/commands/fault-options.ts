import type { Command } from 'commander'
import { describe } from './help-text.js'

export interface FaultOptions {
  readonly uri: string
  readonly list?: true
  /** true: all faults. */
  readonly heal?: string | true
  /** The id of a fault. */
  readonly reached?: string
  readonly json?: true
}

/**
 * The help repeats the table of verbs, because loading the cluster would make it slow; a test
 * compares the two.
 */
export function addFaultCommand(
  program: Command,
  run: (fault: string | undefined, options: FaultOptions) => Promise<void>,
): void {
  describe(
    program.command('fault'),
    'Break a part of a cluster, list its faults, or heal them.',
    `  shardlab fault --uri mongodb://127.0.0.1:27017/ 'crash shard02 for 5s'
  shardlab fault --uri mongodb://127.0.0.1:27017/ --list
  shardlab fault --uri mongodb://127.0.0.1:27017/ --heal`,
  )
    .argument('[fault...]', "what to break, such as 'crash shard02 for 5s'")
    .requiredOption('--uri <uri>', 'connection string of a mongos of the cluster')
    .option('--list', 'list the active and scheduled faults')
    .option('--heal [id]', 'heal one fault, or all without an id')
    .option('--reached <id>', 'wait until a member reaches the step of a fault')
    .option('--json', 'print the reply as one JSON object')
    .addHelpText(
      'after',
      `
Faults:
  crash shard02
  destroy shard02
  restart shard02
  stop shard02
  pause shard02
  resume shard02
  step down shard02
  slow shard02 by 10x
  slow disk of shard02 by 20ms
  fill disk of shard02
  skew clock of shard02 by -2h
  jump clock of shard02 by -2h
  freeze routes of mongos01
  stall range deleter of shard02
  partition shard01 [from shard02] [one way]
  delay [5%] between mongos01 and shard02 by 20ms[..40ms]
  limit between mongos01 and shard02 to 10MB/s
  drop [5%] between mongos01 and shard02
  refuse connections to shard02 [from mongos01]
  config unavailable
  cut [5%] replies of mongos01 [to clients]
  duplicate [5%] between shard01 and shard02
  hold at shard.migration.committing [on shard01]
  fail at shard.migration.committing [on shard01]
  crash at shard.migration.committing [on shard01]
  delay replication of shard02 by 10s
  shrink oplog of shard02 to 100KB

In place of a member: a replica set (shard02, all of its members), the primary of shard02,
a secondary of shard02, the secondaries of shard02.

Any of these can follow: for 5s, after 2h; of links and steps: first 10;
of links: with probability 5%, seed 7, only client.command.

Exit codes:
  0    done
  2    wrong usage, no cluster at the URI, or no such member, link, step or fault
  3    internal error`,
    )
    // Also without quotes.
    .action((words: readonly string[], options: FaultOptions) =>
      run(words.length === 0 ? undefined : words.join(' '), options),
    )
}
