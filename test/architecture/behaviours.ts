/** The page of what differs between versions: the table of @shardlab/sharding by subject, which is the file that a row stands in. */
import { behaviourTable, emulatedVersions, type BehaviourRow, type EmulatedVersion } from '@shardlab/sharding'
import type { Repository } from './model/repository.js'

type Rows = Readonly<Record<string, Omit<BehaviourRow<unknown>, 'name'>>>

export interface Subject {
  readonly title: string
  /** What the file says of itself. */
  readonly about: string
  /** In the order of the file. */
  readonly names: readonly string[]
}

const subjectsFolder = 'packages/sharding/src/behaviours/subjects/'

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '\\<')

/** @param notice the line that says that nobody edits the page */
export function behavioursPage(notice: string, subjects: readonly Subject[], table: Rows = behaviourTable): string {
  return [
    notice,
    '',
    '# Behaviours by version',
    '',
    `What depends on \`emulate\`, which is one of ${emulatedVersions.join(', ')}. Each is the last patch release of its series, 6.0.2 itself the last with auto-split. Code asks for a behaviour by its name; nothing else compares versions.`,
    '',
    ...subjects.flatMap((subject) => subjectSection(subject, table)),
  ].join('\n')
}

/** The subjects in order of their titles. */
export function behaviourSubjects(repository: Repository): Subject[] {
  return [...repository.files]
    .filter(([path]) => path.startsWith(subjectsFolder))
    .map(([path, { text }]) => {
      const name = path.slice(subjectsFolder.length, -'.ts'.length).replaceAll('-', ' ')
      return {
        title: name[0]!.toUpperCase() + name.slice(1),
        about: /^\/\*\*\s*(.*?)\s*\*\//s.exec(text)?.[1]?.replaceAll(/\s*\n\s*\*\s*/g, ' ') ?? '',
        names: [...text.matchAll(/^ {2}(\w+): row\b/gm)].map((match) => match[1]!),
      }
    })
    .sort((a, b) => (a.title < b.title ? -1 : 1))
}

function subjectSection({ title, about, names }: Subject, table: Rows): string[] {
  return [
    `## ${title}`,
    '',
    ...(about === '' ? [] : [about, '']),
    '| behaviour | what is decided | values | source |',
    '| --- | --- | --- | --- |',
    ...names.map((name) => {
      const { about: decided, values, source } = table[name]!
      return `| \`${name}\` | ${cell(decided)} | ${cell(valuesText(values))} | ${cell(source)} |`
    }),
    '',
  ]
}

/** `2.6 to 4.0: no; 4.4 to 8.0: yes` */
export function valuesText(values: readonly (readonly [from: EmulatedVersion, value: unknown])[]): string {
  return values
    .map(([from, value], i) => {
      const next = values[i + 1]?.[0]
      const last = next === undefined ? emulatedVersions.at(-1)! : emulatedVersions[emulatedVersions.indexOf(next) - 1]!
      return `${from === last ? from : `${from} to ${last}`}: ${valueText(value)}`
    })
    .join('; ')
}

function valueText(value: unknown): string {
  if (value === true) return 'yes'
  if (value === false) return 'no'
  if (value === null) return 'none'
  return typeof value === 'string' || typeof value === 'number' ? `\`${value}\`` : `\`${JSON.stringify(value)}\``
}
