import type { Growth } from './growth';

const TITLES: { [job: string]: string } = {
	feed_100k: 'Push Campaign Contacts: rows of a file',
	feed_100k_file: 'Push Campaign Contacts: a file as it is',
	get_1000_calls: 'Get Call: calls, 50 at a time',
	get_many_10k: 'Get Call › Get Many: calls of a list',
	dnd_5000: 'DND List › Get Many: numbers of a list',
	dnd_check_1000: 'DND List › Check Many: rows',
	place_500_calls: 'Place Call: calls, 50 at a time',
	place_500_calls_nine: 'Place Call with nine expressions: calls',
	chat_send_500: 'Chat Send: messages in 20 sessions',
	events_10k: 'Chat Events Trigger: events (CPU)',
	completions_1000: 'Call Completed Trigger: calls (CPU)',
};
const ROW = 78;
const [LEFT, MIDDLE, WIDTH] = [320, 640, 960];
const BAR = { height: 16, gap: 4, longest: 190 };
const INK = '#1f2328';
const [TIME, MEMORY] = ['#0969da', '#8250df'];

/** Draws bars for each job: the time per unit and the memory, at 1, 4, and 16 times the size. */
export function plot({ steps }: Growth): string {
	const shown = Object.entries(TITLES).flatMap(([job, title]) => {
		const of = steps[job];
		return of === undefined ? [] : [{ title, of }];
	});
	const rows = shown.map(({ title, of }, index) => {
		const times = of.map(({ us_per_unit: us }) => us);
		const memory = of.map(({ peak_mb: mb }) => mb);
		const sizes = of.map(({ units }) => units.toLocaleString('en')).join(' · ');
		return [
			`<g transform="translate(0 ${56 + index * ROW})">`,
			text(16, 24, title, 'font-weight="600"'),
			text(16, 44, sizes, 'fill-opacity="0.7"'),
			...bars(LEFT, times, TIME, (us) =>
				us < 1_000 ? `${us} µs` : `${(us / 1_000).toFixed(2)} ms`,
			),
			...bars(MIDDLE, memory, MEMORY, (mb) => `${mb} MB`),
			'</g>',
		];
	});
	const height = 56 + rows.length * ROW;
	return `${[
		`<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13" fill="${INK}">`,
		'<title>What one unit takes and what memory the whole takes, at one, four and sixteen times the size</title>',
		`<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
		text(LEFT, 32, 'time a unit, at 1×, 4×, 16×', 'font-weight="600"'),
		text(MIDDLE, 32, 'memory of the whole, at 1×, 4×, 16×', 'font-weight="600"'),
		...rows.flat(),
		'</svg>',
	].join('\n')}\n`;
}

function bars(
	x: number,
	values: number[],
	fill: string,
	shown: (value: number) => string,
): string[] {
	const max = Math.max(...values, 1);
	return values.flatMap((value, index) => {
		const y = 6 + index * (BAR.height + BAR.gap);
		const width = Math.max(1, Math.round((value / max) * BAR.longest));
		return [
			`<rect x="${x}" y="${y}" width="${width}" height="${BAR.height}" rx="2" fill="${fill}"/>`,
			text(x + width + 6, y + 13, shown(value)),
		];
	});
}

function text(x: number, y: number, words: string, more = ''): string {
	return `<text x="${x}" y="${y}" ${more}>${words}</text>`;
}
