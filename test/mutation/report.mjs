// Writes report.md from the results of the last runs: the score of each area. The surviving mutants are in reports.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import groupBy from 'lodash/groupBy.js';
import { format, resolveConfig } from 'prettier';
import { AREAS, RESULTS } from './areas.mjs';
import { EQUIVALENT } from './equivalent.mjs';

const REPORT = fileURLToPath(new URL('report.md', import.meta.url));
const SURVIVORS = path.join(RESULTS, 'survivors.md');
const DETECTED = ['Killed', 'Timeout'];
const UNDETECTED = ['Survived', 'NoCoverage'];

/** The stored runs of an area, the largest sample first. */
function runsOf({ file }) {
	const name = new RegExp(`^${file}(?:-([\\d.]+)-(\\d+))?\\.json$`);
	const kept = existsSync(RESULTS) ? readdirSync(RESULTS) : [];
	return kept
		.flatMap((results) => {
			const [, share = 1, seed] = name.exec(results) ?? [];
			return name.test(results) ? [{ results, share: Number(share), seed }] : [];
		})
		.map((run) => ({ ...run, mutants: mutantsOf(run) }))
		.sort((a, b) => b.share - a.share);
}

/** The mutants of a run, each with its file and line. */
function mutantsOf({ results }) {
	const { files } = JSON.parse(readFileSync(path.join(RESULTS, results), 'utf8'));
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

function whyEquivalent({ file, original, replacement }) {
	return EQUIVALENT.find(
		(one) =>
			file.endsWith(one.file) && one.original === original && one.replacement === replacement,
	)?.why;
}

function survivor(mutant) {
	const why = whyEquivalent(mutant);
	const what = `line ${mutant.at}: ${code(mutant.original)} → ${code(mutant.replacement)}`;
	return `- ${what}${why === undefined ? '' : `: ${why}`}`;
}

function survivors(mutants) {
	const left = mutants.filter(({ status }) => UNDETECTED.includes(status));
	return Object.entries(groupBy(left, 'file'))
		.map(([file, all]) => `${file}\n\n${all.map(survivor).join('\n')}`)
		.join('\n\n');
}

const sampleOf = ({ share, seed }) =>
	share === 1 ? 'all mutants' : `${Math.round(share * 100)} %, seed ${seed}`;

/** Writes the scores, and the surviving mutants beside the results. */
export async function writeReport() {
	const areas = AREAS.map((area) => ({ ...area, runs: runsOf(area) }));
	const scores = areas.flatMap(({ name, goal, runs }) =>
		runs.length > 0
			? runs.map((run) => [name, `${goal} %`, sampleOf(run), ...counts(run.mutants)])
			: [[name, `${goal} %`, 'not run', ...counts([])]],
	);
	const text = [
		'# Mutation report',
		'Written by `npm run long -- mutation`. A mutant is a small change of the code; one that survives is a change that no test of its area notices.',
		table(['area', 'wanted', 'tried'], scores),
	].join('\n\n');
	writeFileSync(REPORT, await format(text, { ...(await resolveConfig(REPORT)), filepath: REPORT }));
	const lists = areas.flatMap(({ name, runs }) =>
		runs.map((run) => `## ${name}, ${sampleOf(run)}\n\n${survivors(run.mutants)}\n`),
	);
	writeFileSync(SURVIVORS, lists.join('\n'));
}
