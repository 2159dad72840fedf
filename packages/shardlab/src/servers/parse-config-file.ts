/** Server: options_parser.cpp. Older files have lines `name = value` instead of YAML. */
import { readFileSync } from 'node:fs'
import { isMap, isScalar, isSeq, parseDocument, type Node, type YAMLMap } from 'yaml'
import { valueFromText, type GivenOptions } from './given-options.js'
import type { ServerOption } from './option-table.js'
import { ServerOptionError } from './server-error.js'

/** @throws ServerOptionError */
export function readConfigFile(path: string, options: readonly ServerOption[]): GivenOptions {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new ServerOptionError(`Error opening config file: ${systemText((error as NodeJS.ErrnoException).code)}`)
  }
  return parseConfigFile(text, options)
}

/** @throws ServerOptionError */
export function parseConfigFile(text: string, options: readonly ServerOption[]): GivenOptions {
  const document = parseDocument(text, { prettyErrors: false })
  if (isIni(text)) return parseIni(text, options)
  const [problem] = document.errors
  if (problem !== undefined) {
    const { line, column } = positionOf(text, problem.pos[0])
    throw new ServerOptionError(
      `Error parsing YAML config file: yaml-cpp: error at line ${line}, column ${column}: ${problem.message}`,
    )
  }
  const given: GivenOptions = new Map()
  const { contents } = document
  if (contents === null || (isScalar(contents) && contents.value === null)) return given
  if (!isMap(contents)) throw new ServerOptionError('No map found at top level of YAML config')
  addSection(contents, '', options, given)
  return given
}

/** Every line is `name = value` or `name`, so that YAML reads them as one scalar. */
function isIni(text: string): boolean {
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim())
  const used = lines.filter((line) => line !== '')
  return used.length > 0 && used.every((line) => /^[\w.]+\s*=/.test(line))
}

function parseIni(text: string, options: readonly ServerOption[]): GivenOptions {
  const given: GivenOptions = new Map()
  for (const line of text.split('\n').map((each) => each.replace(/#.*/, '').trim())) {
    if (line === '') continue
    const at = line.indexOf('=')
    const [name, value] = [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    const option = options.find((each) => each.name === name)
    if (option === undefined)
      throw new ServerOptionError(`Error parsing INI config file: unrecognised option '${name}'`)
    const before = given.get(option)
    const parsed = valueFromText(option, value)
    if (before !== undefined && option.type !== 'map')
      throw new ServerOptionError(`Error parsing INI config file: option '${name}' cannot be specified more than once`)
    given.set(option, option.type === 'map' ? { ...(before as object), ...(parsed as object) } : parsed)
  }
  return given
}

function addSection(section: YAMLMap, parent: string, options: readonly ServerOption[], given: GivenOptions): void {
  const names = new Set<string>()
  for (const { key, value } of section.items) {
    const name = textOf(key as Node)
    if (name === '') throw new ServerOptionError('Found empty key in YAML config file')
    const path = parent === '' ? name : `${parent}.${name}`
    if (names.has(name)) throw new ServerOptionError(`Error parsing YAML config file: duplicate key: ${path}`)
    names.add(name)
    const option = options.find((each) => each.path === path)
    if (isMap(value) && option?.type !== 'map') addSection(value, path, options, given)
    else if (option === undefined) throw new ServerOptionError(`Unrecognized option: ${path}`)
    else given.set(option, valueOf(option, value as Node | null, path))
  }
}

function valueOf(option: ServerOption, node: Node | null, path: string): unknown {
  if (option.type === 'map') {
    if (!isMap(node))
      throw new ServerOptionError(`Option: ${path} is of type StringMap, but value in YAML config is not a map type`)
    return Object.fromEntries(node.items.map(({ key, value }) => [textOf(key as Node), textOf(value as Node | null)]))
  }
  if (option.type === 'strings') {
    if (!isSeq(node))
      throw new ServerOptionError(
        `Option: ${path} is of type StringVector, but value in YAML config is not a list type`,
      )
    return node.items.map((item) => textOf(item as Node))
  }
  // A level of verbosity, where the command line has a switch.
  if (option.name === 'verbose') return Number(textOf(node)) > 0
  return valueFromText({ ...option, name: path }, textOf(node))
}

/** As it is written: the server reads every value as a text first. */
function textOf(node: Node | null): string {
  if (node === null || !isScalar(node)) return ''
  return node.source ?? String(node.value ?? '')
}

function positionOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: before.at(-1)!.length + 1 }
}

function systemText(code: string | undefined): string {
  if (code === 'ENOENT') return 'No such file or directory'
  return code === 'EACCES' ? 'Permission denied' : code === 'EISDIR' ? 'Is a directory' : (code ?? 'unknown error')
}
