// Writes report.md from the results of the last runs: the score of each folder, and every surviving mutant.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { AREAS, RESULTS } from './areas.mjs';
import { EQUIVALENT } from './equivalent.mjs';

const REPORT = fileURLToPath(new URL('report.md', import.meta.url));
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
				return { ...mutant, file, line: line.trim(), at: start.line, original };
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

function whyEquivalent({ file, line, original, replacement }) {
	return EQUIVALENT.find(
		(one) =>
			file.endsWith(one.file) &&
			line.includes(one.within) &&
			one.original === original &&
			one.replacement === replacement,
	)?.why;
}

function survivor(mutant) {
	const why = whyEquivalent(mutant);
	const what = `line ${mutant.at}: ${code(mutant.original)} → ${code(mutant.replacement)}`;
	return `- ${what}${why === undefined ? '' : `: ${why}`}`;
}

function survivors(mutants) {
	const left = mutants.filter(({ status }) => UNDETECTED.includes(status));
	return [...new Set(left.map(({ file }) => file))]
		.map(
			(file) =>
				`${file}\n\n${left
					.filter((one) => one.file === file)
					.map(survivor)
					.join('\n')}`,
		)
		.join('\n\n');
}

const sampleOf = ({ share, seed }) =>
	share === 1 ? 'all mutants' : `${Math.round(share * 100)} %, seed ${seed}`;

function runSection(run) {
	const { mutants } = run;
	const folders = [...new Set(mutants.map(({ file }) => path.posix.dirname(file)))].sort();
	const rows = folders.map((folder) => [
		folder,
		...counts(mutants.filter(({ file }) => path.posix.dirname(file) === folder)),
	]);
	return [`### ${sampleOf(run)}`, table(['folder'], rows), survivors(mutants)].join('\n\n');
}

function section({ name, runs }) {
	return [`## ${name}`, ...(runs.length > 0 ? runs.map(runSection) : ['Not run.'])].join('\n\n');
}

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
		...areas.map(section),
	].join('\n\n');
	writeFileSync(REPORT, await format(text, { ...(await resolveConfig(REPORT)), filepath: REPORT }));
}
