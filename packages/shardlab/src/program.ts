import { Command } from 'commander'
import { addCopyCommand, type CopyAction, type CopyOptions } from './commands/copy-options.js'
import { addDashboardCommand, type DashboardOptions } from './commands/dashboard-options.js'
import { addDoctorCommand, type DoctorOptions } from './commands/doctor-options.js'
import { addEventsCommand, type EventsOptions } from './commands/events-options.js'
import { addExplainBalanceCommand, type ExplainBalanceOptions } from './commands/explain-balance-options.js'
import { describe, layOutHelp } from './commands/help-text.js'
import { addHostCommand, type HostCommandOptions } from './commands/host-options.js'
import { addLoadCommand, type LoadCommandOptions } from './commands/load-options.js'
import { addFaultCommand, type FaultOptions } from './commands/fault-options.js'
import { addMemberCommand, type MemberAction, type MemberOptions } from './commands/member-options.js'
import { addRollbackFilesCommand, type RollbackFilesOptions } from './commands/rollback-files-options.js'
import { addSimulateCommand, type SimulateOptions } from './commands/simulate-options.js'
import { addSwarmCommand, type SwarmCommandOptions } from './commands/swarm-options.js'
import { addUniqueCommand, type UniqueAction, type UniqueCommandOptions } from './commands/unique-options.js'
import { addUpCommand, type UpOptions } from './commands/up-options.js'
import { addWatchCommand, type WatchCommandOptions } from './commands/watch-options.js'
import { addWhichCommand, type WhichProgram } from './commands/which-options.js'
import { addWorkerCommand, type WorkerCommandOptions } from './commands/worker-options.js'

export interface CommandRunners {
  readonly up: (options: UpOptions) => Promise<void>
  readonly host: (options: HostCommandOptions) => Promise<void>
  readonly load: (options: LoadCommandOptions) => Promise<void>
  readonly simulate: (scenario: string | undefined, options: SimulateOptions) => Promise<void>
  readonly swarm: (options: SwarmCommandOptions) => Promise<void>
  readonly worker: (options: WorkerCommandOptions) => Promise<void>
  readonly dashboard: (options: DashboardOptions) => Promise<void>
  readonly events: (options: EventsOptions) => Promise<void>
  readonly explainBalance: (options: ExplainBalanceOptions) => Promise<void>
  readonly unique: (action: UniqueAction, options: UniqueCommandOptions) => Promise<void>
  readonly copy: (action: CopyAction, id: string | undefined, options: CopyOptions) => Promise<void>
  readonly fault: (fault: string | undefined, options: FaultOptions) => Promise<void>
  readonly member: (action: MemberAction, name: string, options: MemberOptions) => Promise<void>
  readonly rollbackFiles: (options: RollbackFilesOptions) => Promise<void>
  readonly watch: (ns: string | undefined, options: WatchCommandOptions) => Promise<void>
  readonly doctor: (options: DoctorOptions) => Promise<void>
  readonly which: (program: WhichProgram) => Promise<void>
}

/**
 * Where commander would end the process, this parser writes one sentence to standard error and
 * throws a CommanderError.
 */
export function createProgram(runners: CommandRunners): Command {
  const program = layOutHelp(new Command('shardlab'))
    .version('0.1.0', '-V, --version', 'print the version')
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(usageError(text)) })
  describe(
    program,
    'A MongoDB sharded cluster in one Node process: offline, started in milliseconds, for any driver.',
    `  shardlab up                                               three shards on port 27017
  shardlab load --up "--shards 4" --workload route-mix      the cost of broadcasts
  shardlab simulate hot-monotonic-key --report growth.html  how data spreads, in virtual time`,
  )
  program.commandsGroup('Start a cluster:')
  addUpCommand(program, runners.up)
  addHostCommand(program, runners.host)
  program.commandsGroup('Work with a running cluster:')
  addDashboardCommand(program, runners.dashboard)
  addEventsCommand(program, runners.events)
  addExplainBalanceCommand(program, runners.explainBalance)
  addFaultCommand(program, runners.fault)
  addMemberCommand(program, runners.member)
  addRollbackFilesCommand(program, runners.rollbackFiles)
  addCopyCommand(program, runners.copy)
  program.commandsGroup('Work with any MongoDB:')
  addLoadCommand(program, runners.load)
  addWatchCommand(program, runners.watch)
  addUniqueCommand(program, runners.unique)
  program.commandsGroup('Simulate clusters in virtual time:')
  addSimulateCommand(program, runners.simulate)
  addSwarmCommand(program, runners.swarm)
  addWorkerCommand(program, runners.worker)
  program.commandsGroup('Set up a project:')
  addDoctorCommand(program, runners.doctor)
  addWhichCommand(program, runners.which)
  for (const command of [program, ...program.commands]) command.helpOption('-h, --help', 'print this help')
  program.helpCommand('help [command]', 'print the help of a command')
  program.addHelpText('after', '\nEach command has its own help: shardlab up --help.')
  return program
}

/** Commander's `error: what. Why.` as one sentence with what to do. */
function usageError(text: string): string {
  const message = text
    .trim()
    .replace(/^error: (command-argument value )?/, '')
    .replace(/^(option '.+' argument) '(--?[a-z][\w-]*)' is invalid\..*$/s, "$1 missing: '$2' is the next option")
    .replace(' is invalid. It must', ' is invalid: it must')
    .replace("'. Expected ", "': expected ")
    .replace('. Allowed choices', ': allowed choices')
    .replace(/\.$/, '')
    .replace(/\n\((Did you mean .+\?)\)$/, (_, question: string) => `. ${question}`)
  return `shardlab: ${message} (run with --help for the options).\n`
}
