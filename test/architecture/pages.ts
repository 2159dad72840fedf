import { exportedRows, loadCommandModules, type CommandModules, type Row } from './model/command-tables.js'
import { exceptions } from '../conformance/exceptions.js'
import { readResults } from '../conformance/results.js'
import { clusterParametersPage } from './cluster-parameters.js'
import { conformancePage, specificationSection } from './conformance.js'
import { behavioursPage, behaviourTopics } from './behaviours.js'
import { deviationLink, deviationSection, deviationsPath, parseDeviations } from './deviations.js'
import { faultsPage } from './faults.js'
import { guaranteesPage } from './guarantees.js'
import { readGuarantees } from '../guarantees/results.js'
import type { Finding, Repository } from './model/repository.js'
import { languagePage } from './language.js'
import { rolesPage } from './roles.js'
import { operatorFamilies, operatorSection } from './operators.js'
import { cell } from './markdown.js'

/** The required content of a file of docs/reference. */
export interface Page {
  readonly path: string
  readonly text: string
}

const referenceFolder = 'docs/reference'
const notice = '<!-- Generated: npm run generate. Do not edit. -->'

const memberNames: Readonly<Record<string, string>> = {
  mongos: 'mongos',
  shard: 'shard',
  'config-server': 'config server',
  node: 'any mongod',
}

/** All generated pages; none when there are no commands. */
export async function generatePages(repository: Repository, root: string): Promise<Page[]> {
  const deviations = repository.files.get(deviationsPath)?.text ?? ''
  const links = new Map(parseDeviations(deviations).map((entry) => [entry.number, deviationLink(entry)]))
  const link = (number: string): string => links.get(number) ?? number
  const modules = await loadCommandModules(repository, root)
  const commands = commandsSection(modules, link)
  if (commands === null) return []
  const results = readResults()
  const lines = [
    notice,
    '',
    '# Compatibility',
    '',
    'Commands, stages and operators that Shardlab supports, and how completely. A part that it "refuses"',
    'gets an error. A part that it "lacks" is silently missing; `shardlab up --strict` refuses the whole',
    'command, stage or operator (CommandNotSupported 115). A number such as D302 is a deviation: what the',
    'server does, and what happens here instead. A command is "full" when nothing is known to be',
    'refused, missing or different: every argument of the emulated version has its effect, and replies',
    "and errors are the server's. Privileges are those that a client needs with `--auth`.",
    '[Cluster parameters](cluster-parameters.md) have their own page.',
    '',
    ...commands,
    ...operatorFamilies().flatMap((family) => operatorSection(family, link)),
    ...deviationSection(deviations, [
      ...modules.flatMap(({ entry }) => [...exportedRows(entry.exports)]),
      ...operatorFamilies().flatMap(({ rows }) => [...rows]),
    ]),
    ...specificationSection(results),
  ]
  return [
    { path: `${referenceFolder}/compatibility.md`, text: lines.join('\n') },
    { path: `${referenceFolder}/conformance.md`, text: conformancePage(notice, results, exceptions) },
    { path: `${referenceFolder}/behaviours.md`, text: behavioursPage(notice, behaviourTopics(repository)) },
    { path: `${referenceFolder}/cluster-parameters.md`, text: clusterParametersPage(notice) },
    { path: `${referenceFolder}/faults.md`, text: faultsPage(notice) },
    { path: `${referenceFolder}/guarantees.md`, text: [notice, '', ...guaranteesPage(readGuarantees())].join('\n') },
    { path: `${referenceFolder}/language.md`, text: languagePage(notice) },
    { path: `${referenceFolder}/roles.md`, text: rolesPage(notice, modules) },
  ]
}

/**
 * Every command, the members that serve it, and how completely; null when there are no commands.
 *
 * @param link of a deviation's number to its entry
 */
export function commandsSection(modules: readonly CommandModules[], link: (number: string) => string): string[] | null {
  const servedBy = new Map<string, { row: Row; folder: string }[]>()
  for (const { folder, entry } of modules) {
    // The rows of `member` are in the tables of routers and nodes.
    if (folder === 'member') continue
    for (const row of exportedRows(entry.exports))
      servedBy.set(row.name, [...(servedBy.get(row.name) ?? []), { row, folder }])
  }
  if (servedBy.size === 0) return null
  const names = [...servedBy.keys()].sort((a, b) => a.localeCompare(b, 'en'))
  const lines = names.map((name) => commandLine(name, servedBy.get(name)!, link))
  return [
    '## Commands',
    '',
    `${names.length} commands. Others get CommandNotFound (59), as on the server.`,
    '',
    '| command | what it does | served by | routing | access | privileges | status | manual |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...lines,
    '',
  ]
}

function commandLine(
  name: string,
  places: readonly { row: Row; folder: string }[],
  link: (number: string) => string,
): string {
  const { row } = places[0]!
  const aliases = [...new Set(places.flatMap((place) => place.row.aliases ?? []))].map((alias) => `\`${alias}\``)
  const command = `\`${name}\`${aliases.length > 0 ? ` (${aliases.join(', ')})` : ''}`
  const status = statusText(
    places.map((place) => place.row),
    link,
  )
  const routing = [...new Set(places.map((place) => place.row.routing))].join(', ')
  const access = `${row.access}${row.adminOnly === true ? ', admin database only' : ''}`
  const members = places.map((place) => memberNames[place.folder] ?? place.folder).join(', ')
  return `| ${[command, row.summary, members, routing, access, privilegesText(row.privileges), status, row.manual].map(cell).join(' | ')} |`
}

const resourceNames: Readonly<Record<string, string>> = {
  cluster: 'the cluster',
  database: 'the database',
  namespace: 'the collection',
  'named database': 'the named database',
  'named namespace': 'the named collection',
}

/** What a client needs with `--auth`. */
function privilegesText(privileges: unknown): string {
  if (privileges === 'user') return 'any user'
  if (typeof privileges === 'string') return privileges
  if (!Array.isArray(privileges)) return 'by arguments'
  return (privileges as { on: string; actions: readonly string[] }[])
    .map(({ on, actions }) => `${actions.map((action) => `\`${action}\``).join(', ')} on ${resourceNames[on]}`)
    .join('; ')
}

/** `full`, or the refused and the silently missing parts of any member, and the deviations. */
function statusText(rows: readonly Row[], link: (number: string) => string): string {
  const parts = rows.flatMap(({ missing, lacks }) => [
    ...(missing === undefined ? [] : [`refuses ${missing}`]),
    ...(lacks === undefined ? [] : [`**lacks** ${lacks}`]),
  ])
  const deviations = [...new Set(rows.flatMap(({ deviations = [] }) => deviations))].sort()
  if (deviations.length > 0) parts.push(deviations.map(link).join(' '))
  return parts.length === 0 ? 'full' : [...new Set(parts)].join('; ')
}

/** Pages of docs/reference that are written by hand and have their own tests. */
const writtenByHand: ReadonlySet<string> = new Set([
  `${referenceFolder}/README.md`,
  deviationsPath,
  `${referenceFolder}/events.md`,
  `${referenceFolder}/live-stream.md`,
])

/**
 * docs/reference contains the current generated pages and those written by hand, and nothing else.
 */
export function findStalePages(repository: Repository, pages: readonly Page[]): Finding[] {
  const regenerate = 'run npm run generate'
  const findings: Finding[] = []
  for (const { path, text } of pages) {
    const present = repository.files.get(path)?.text
    if (present !== text)
      findings.push({ path, line: 0, message: `${present === undefined ? 'is missing' : 'is stale'}: ${regenerate}` })
  }
  for (const path of repository.files.keys()) {
    if (!path.startsWith(`${referenceFolder}/`) || writtenByHand.has(path)) continue
    if (!pages.some((page) => page.path === path))
      findings.push({ path, line: 0, message: 'is not a generated page: docs/reference holds nothing else' })
  }
  return findings
}
