/** The page that shows which built-in role may run which command. */
import { CommandArguments, type CommandPrivileges } from '@shardlab/actor'
import { accessOf, builtInRolesOf, privilegesOfBuiltInRole, PrivilegeSet, type RoleName } from '@shardlab/auth'
import { CommandError, encode, type Document } from '@shardlab/bson'
import { accessRulesOf, isAllowed } from '@shardlab/member'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import { exportedRows, type CommandModules, type Row } from './model/command-tables.js'
import { examplesOf } from './model/example-commands.js'
import { cell, wrapped } from './markdown.js'

const shownVersion: EmulatedVersion = '8.0'
/** Of members, and of a tool of Atlas. */
const internalRoles: ReadonlySet<string> = new Set(['__system', '__queryableBackup'])

export interface AskedCommand {
  readonly row: Row
  readonly db: string
  readonly command: Document
}

/** Each role of a database is that of shop. */
export function shownRoles(version: EmulatedVersion = shownVersion): RoleName[] {
  const rules = accessRulesOf(behavioursOf(version))
  const ofShop = builtInRolesOf('shop', rules)
  const names = new Set(ofShop.map(({ role }) => role))
  const ofAdmin = builtInRolesOf('admin', rules).filter(({ role }) => !names.has(role) && !internalRoles.has(role))
  return [...ofShop, ...ofAdmin]
}

/** One row of each command: of routers, or of the members that have it. */
export function shownRows(modules: readonly CommandModules[]): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>()
  for (const { folder, entry } of modules)
    if (folder !== 'member')
      for (const row of exportedRows(entry.exports)) if (!rows.has(row.name)) rows.set(row.name, row)
  return new Map([...rows].sort(([a], [b]) => a.localeCompare(b, 'en')))
}

export function asked(row: Row): AskedCommand[] {
  return examplesOf(row).map((command) => ({ row, db: row.adminOnly === true ? 'admin' : 'shop', command }))
}

/** Whether a user that has only this role may run the command through a router. */
export function mayRun(
  { row, db, command }: AskedCommand,
  role: RoleName,
  rows: ReadonlyMap<string, Row>,
  version: EmulatedVersion = shownVersion,
): boolean {
  const rules = accessRulesOf(behavioursOf(version))
  const body = encode(command)
  const user = { user: 'asking', db: 'admin' }
  try {
    return isAllowed(row.privileges as CommandPrivileges, {
      ...{ command: row.name, db, body, rules, sequences: [], isRouter: true },
      args: CommandArguments.parse(body, null),
      access: accessOf(new PrivilegeSet(privilegesOfBuiltInRole(role, rules), rules), [user], [role]),
      ownsOperation: () => false,
      namespaceOfUuid: () => null,
      privilegesOf: (name) => rows.get(name)?.privileges as CommandPrivileges | undefined,
    })
  } catch (error) {
    if (error instanceof CommandError && error.codeName === 'Unauthorized') return false
    throw error
  }
}

export function rolesPage(notice: string, modules: readonly CommandModules[]): string {
  const roles = shownRoles()
  const rows = shownRows(modules)
  const all = [...rows.values()]
  const lines: string[] = []
  const forMembers: Row[] = []
  for (const row of all) {
    if (typeof row.privileges === 'string') continue
    const marked = asked(row).map((each) => ({ each, marks: roles.map((role) => mayRun(each, role, rows)) }))
    if (marked.every(({ marks }) => !marks.includes(true))) forMembers.push(row)
    else lines.push(...marked.map(({ each, marks }) => lineOf(each, marks)))
  }
  return [
    notice,
    '',
    '# Commands and built-in roles',
    '',
    ...wrapped(
      `Which commands a user with one built-in role may run through a router, with \`--auth\`, in ${shownVersion}. The roles from \`dbAdmin\` to \`userAdmin\` are those of the database \`shop\`, the others are of \`admin\`. Commands run on \`shop\`, or on \`admin\` where they run only there. Not in the table: rights of users on their own sessions, operations and passwords. [Compatibility](compatibility.md) has the privileges.`,
    ),
    '',
    ...wrapped(`No user is needed for ${listed(all.filter(({ privileges }) => privileges === 'none'))}.`),
    '',
    ...wrapped(`Any user may run ${listed(all.filter(({ privileges }) => privileges === 'user'))}.`),
    '',
    ...wrapped(`Only members, and users with the role \`__system\`, may run ${listed(forMembers)}.`),
    '',
    `| command | ${roles.map(({ role }) => role).join(' | ')} |`,
    `| --- | ${roles.map(() => ':-:').join(' | ')} |`,
    ...lines,
    '',
  ].join('\n')
}

const listed = (rows: readonly Row[]): string => rows.map(({ name }) => `\`${name}\``).join(', ')

function lineOf({ command }: AskedCommand, marks: readonly boolean[]): string {
  return `| ${[`\`${textOf(command)}\``, ...marks.map((may) => (may ? '●' : ''))].map(cell).join(' | ')} |`
}

/** As a shell shows it, without what only makes the command complete. */
function textOf(command: Document): string {
  const shown = Object.entries(command).filter(([name]) => name !== 'cursor')
  return JSON.stringify(Object.fromEntries(shown))
    .replaceAll(/"(\$?\w+)":/g, '$1: ')
    .replaceAll(',', ', ')
}
