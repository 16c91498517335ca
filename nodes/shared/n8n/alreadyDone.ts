import type { INodeExecutionData } from 'n8n-workflow';

export type Deed = { one: string; several: string };

/** Told when a later item stops the run, so that nothing is done twice on the next one. */
export function alreadyDone({ one, several }: Deed) {
	return (done: INodeExecutionData[]): string => {
		const indices = done.map(({ pairedItem }) => itemIndex(pairedItem)).sort((a, b) => a - b);
		const [what, items, them] =
			done.length === 1 ? [one, 'item', 'it'] : [several, 'items', 'them'];
		return `${done.length} ${what} in this run (${items} ${ranges(indices)}). Retry of this execution leaves ${them} out; in a new execution leave ${them} out yourself.`;
	};
}

function itemIndex(pairedItem: INodeExecutionData['pairedItem']): number {
	return typeof pairedItem === 'object' && !Array.isArray(pairedItem) ? pairedItem.item : 0;
}

/** 0, 1, 2, 5 → "0–2, 5" */
function ranges(sorted: number[]): string {
	const runs: Array<[first: number, last: number]> = [];
	for (const index of sorted) {
		const run = runs.at(-1);
		if (run !== undefined && run[1] === index - 1) run[1] = index;
		else runs.push([index, index]);
	}
	return runs
		.map(([first, last]) => (first === last ? String(first) : `${first}–${last}`))
		.join(', ');
}
