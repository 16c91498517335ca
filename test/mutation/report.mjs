// Writes report.md from the results of the last runs: the score of each folder and every mutant that no test noticed.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { AREAS, SEED } from './areas.mjs';
import { EQUIVALENT } from './equivalent.mjs';

const REPORT = fileURLToPath(new URL('report.md', import.meta.url));
const DETECTED = ['Killed', 'Timeout'];
const UNDETECTED = ['Survived', 'NoCoverage'];

/** The mutants of an area that were tried, each with its file and the line it stands in. */
function mutantsOf({ results }) {
	const { files } = JSON.parse(readFileSync(results, 'utf8'));
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

function row(name, mutants) {
	const detected = count(mutants, ...DETECTED);
	const score = mutants.length === 0 ? '–' : `${((100 * detected) / mutants.length).toFixed(1)} %`;
	return [
		name,
		mutants.length,
		count(mutants, 'Killed'),
		count(mutants, 'Timeout'),
		count(mutants, 'Survived'),
		count(mutants, 'NoCoverage'),
		score,
	];
}

const table = (rows) =>
	[
		['folder', 'mutants', 'killed', 'timed out', 'survived', 'not reached', 'score'],
		['-', '-:', '-:', '-:', '-:', '-:', '-:'],
		...rows,
	]
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

function section(area) {
	const title = `## ${area.name}`;
	if (!existsSync(area.results)) return `${title}\n\nNot run.`;
	const mutants = mutantsOf(area);
	const folders = [...new Set(mutants.map(({ file }) => path.posix.dirname(file)))].sort();
	const rows = folders.map((folder) =>
		row(
			folder,
			mutants.filter(({ file }) => path.posix.dirname(file) === folder),
		),
	);
	const share =
		area.share === 1
			? 'All mutants'
			: `A sample of ${Math.round(area.share * 100)} %, seed ${SEED}`;
	return [
		title,
		`${share}; at least ${area.goal} % is wanted.`,
		table([...rows, row('**all**', mutants)]),
		survivors(mutants),
	].join('\n\n');
}

export async function writeReport() {
	const text = [
		'# Mutation report',
		'Written by `npm run mutation`. A mutant is a small change of the code; one that survives is a change that no test of its area notices.',
		...AREAS.map(section),
	].join('\n\n');
	writeFileSync(REPORT, await format(text, { ...(await resolveConfig(REPORT)), filepath: REPORT }));
}
