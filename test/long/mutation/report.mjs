// Writes report.md from the results of the last run: the score of each area. The surviving mutants are in reports.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import groupBy from 'lodash/groupBy.js';
import { format, resolveConfig } from 'prettier';
import { RESULTS, SEED, SHARE } from './sample.mjs';

const REPORT = fileURLToPath(new URL('report.md', import.meta.url));
const DETECTED = ['Killed', 'Timeout'];
const UNDETECTED = ['Survived', 'NoCoverage'];

/** The mutants that ran, each with its file and line. */
function readMutants() {
	const { files } = JSON.parse(readFileSync(RESULTS, 'utf8'));
	return Object.entries(files).flatMap(([file, { source, mutants }]) => {
		const lines = source.split('\n');
		return mutants
			.filter(({ status }) => [...DETECTED, ...UNDETECTED].includes(status))
			.map((mutant) => {
				const { start, end } = mutant.location;
				const line = lines[start.line - 1] ?? '';
				const original =
					start.line === end.line
						? line.slice(start.column - 1, end.column - 1)
						: line.slice(start.column - 1);
				return { ...mutant, file, at: start.line, original };
			});
	});
}

const count = (mutants, ...statuses) =>
	mutants.filter(({ status }) => statuses.includes(status)).length;

const COUNTS = ['mutants', 'killed', 'timed out', 'survived', 'not reached', 'score'];

function counts(mutants) {
	const detected = count(mutants, ...DETECTED);
	const score = mutants.length === 0 ? '–' : `${((100 * detected) / mutants.length).toFixed(1)} %`;
	return [
		mutants.length,
		count(mutants, 'Killed'),
		count(mutants, 'Timeout'),
		count(mutants, 'Survived'),
		count(mutants, 'NoCoverage'),
		score,
	];
}

const table = (titles, rows) =>
	[[...titles, ...COUNTS], [...titles.map(() => '-'), ...COUNTS.map(() => '-:')], ...rows]
		.map((cells) => `| ${cells.join(' | ')} |`)
		.join('\n');

const code = (text) => `\`${text.replaceAll(/\s+/g, ' ').replaceAll('`', 'ˋ').slice(0, 90)}\``;

const survivor = ({ at, original, replacement }) =>
	`- line ${at}: ${code(original)} → ${code(replacement)}`;

function survivors(mutants) {
	const left = mutants.filter(({ status }) => UNDETECTED.includes(status));
	return Object.entries(groupBy(left, 'file'))
		.map(([file, all]) => `## ${file}\n\n${all.map(survivor).join('\n')}`)
		.join('\n\n');
}

/** The folder of a node, or of code that nodes share. */
function areaOf({ file }) {
	const [first, second, third] = path.dirname(file).split(path.sep);
	if (first !== 'nodes') return first;
	const isShared = (second === 'core' || second === 'host') && third !== undefined;
	return isShared ? `${second}/${third}` : second;
}

/** Writes the score of each area, and the surviving mutants beside the results. */
export async function writeReport() {
	const mutants = readMutants();
	const areas = Object.entries(groupBy(mutants, areaOf)).sort(([a], [b]) => a.localeCompare(b));
	const text = [
		'# Mutation report',
		`Written by \`npm run long -- mutation\`, with ${SHARE * 100} % of the mutants and seed ${SEED}. A mutant is a small change of the code; one that survives is a change that no test notices. At least 90 % should be noticed.`,
		table(
			['area'],
			[...areas, ['all', mutants]].map(([area, some]) => [area, ...counts(some)]),
		),
	].join('\n\n');
	writeFileSync(REPORT, await format(text, { ...(await resolveConfig(REPORT)), filepath: REPORT }));
	writeFileSync(path.join(path.dirname(RESULTS), 'survivors.md'), `${survivors(mutants)}\n`);
}
