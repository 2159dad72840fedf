/** What needs no driver: files, tables and distributions, for programs that play no load. */
export { zetaOf, zipfian } from './data/distributions.js'
export { YamlFile, type SettingPath, type YamlFileOptions } from './input/yaml-file.js'
export { OptionError } from './option-error.js'
export { table } from './report/format.js'
