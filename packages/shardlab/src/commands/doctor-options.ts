import type { Command } from 'commander'
import { portNumber } from './argument-parsers.js'

export interface DoctorOptions {
  readonly emulate: string
  readonly port: number
  readonly project: string
  readonly nativeWire?: true
  readonly json?: true
}

export function addDoctorCommand(program: Command, run: (options: DoctorOptions) => Promise<void>): void {
  program
    .command('doctor')
    .description('Check this machine and the drivers of a project, and say what to change.')
    .option('--emulate <v>', 'server version that the project will use', '7.0')
    .option('--port <p>', 'port that it will use', portNumber, 27017)
    .option('--project <folder>', 'folder of the project', '.')
    .option('--native-wire', 'check against the real wire versions, as up --native-wire announces them')
    .option('--json', 'print one JSON object')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Exit codes: 0 no problem was found; 1 a problem; 2 wrong usage.

Examples:
  shardlab doctor --port 27117
  shardlab doctor --emulate 4.4 --native-wire --project ../shop`,
    )
    .action(run)
}
