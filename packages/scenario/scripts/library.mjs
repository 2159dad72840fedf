/** Before the package is packed: the scenarios of the checkout become part of it. */
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs'

const source = new URL('../../../test/scenarios/', import.meta.url)
const target = new URL('../dist/library/', import.meta.url)

rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
for (const file of readdirSync(source)) if (file.endsWith('.yaml')) cpSync(new URL(file, source), new URL(file, target))
