import type { Command } from 'commander'
import { portNumber } from './argument-parsers.js'
import { describe } from './help-text.js'

export interface DoctorOptions {
  readonly emulate: string
  readonly port: number
  readonly project: string
  readonly nativeWire?: true
  readonly json?: true
}

export function addDoctorCommand(program: Command, run: (options: DoctorOptions) => Promise<void>): void {
  describe(
    program.command('doctor'),
    'Check this machine and a project, and say what to change.',
    `  shardlab doctor --port 27117
  shardlab doctor --emulate 4.4 --native-wire --project ../shop`,
  )
    .option('--emulate <v>', 'server version that the project will use', '7.0')
    .option('--port <p>', 'port that it will use', portNumber, 27017)
    .option('--project <folder>', 'folder of the project', '.')
    .option('--native-wire', 'check against the real wire versions, as up --native-wire announces them')
    .option('--json', 'print one JSON object')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Exit codes:
  0    no problem was found
  1    a problem
  2    wrong usage`,
    )
    .action(run)
}
