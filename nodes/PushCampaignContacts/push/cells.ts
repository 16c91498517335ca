import { isJsonObject } from '../../shared/json';
import type { ContactRow } from './pushTypes';

/** A column of the rows, or what stands inside one: `properties.phone`. */
export type Column = {
	name: string;
	/** The names on the way to a nested one. */
	path?: readonly string[];
};

const STEP = /\.?([^.[\]]+)|\[(\d+)\]|\[(["'])(.*?)\3\]/gy;

/** Reads `a.b`, `a['b c']` and `a[0]`, as dragging a column into a field writes them. */
export function columnOf(text: string): Column {
	const path: string[] = [];
	let end = 0;
	for (const { 0: step, 1: name, 2: place, 4: quotedName, index } of text.matchAll(STEP)) {
		path.push(name ?? place ?? quotedName ?? '');
		end = index + step.length;
	}
	if (end < text.length || path.length === 0) return { name: text };
	const [only = text, ...more] = path;
	return more.length === 0 ? { name: only } : { name: text, path };
}

/** The column names of a list, separated by commas; one in brackets and quotes may hold a comma itself. */
export function columnNames(text: string): string[] {
	const names: string[] = [];
	const lastEnds = new Map(['"', "'"].map((quote) => [quote, text.lastIndexOf(`${quote}]`)]));
	// An end that comes nowhere is not looked for again at each bracket.
	const isClosed = (at: number) =>
		text[at] === '[' && (lastEnds.get(text.charAt(at + 1)) ?? -1) > at + 1;
	let start = 0;
	for (let at = 0; at <= text.length; at++) {
		if (isClosed(at)) at = text.indexOf(`${text.charAt(at + 1)}]`, at + 2) + 1;
		else if (at === text.length || text[at] === ',') {
			names.push(text.slice(start, at).trim());
			start = at + 1;
		}
	}
	return names.filter((name) => name !== '');
}

export function cellOf(row: ContactRow, { name, path }: Column): unknown {
	if (path === undefined) return Object.hasOwn(row, name) ? row[name] : undefined;
	let cell: unknown = row;
	for (const step of path) {
		if (cell === undefined) break;
		cell = stepInto(cell, step);
	}
	return cell;
}

/** Whether the row has the place at all, whatever stands there. */
export function holds(row: ContactRow, { name, path = [name] }: Column): boolean {
	const parent = cellOf(row, { name, path: path.slice(0, -1) });
	const last = path.at(-1) ?? '';
	return Array.isArray(parent)
		? last in parent
		: isJsonObject(parent) && Object.hasOwn(parent, last);
}

function stepInto(cell: unknown, step: string): unknown {
	if (Array.isArray(cell)) return /^\d+$/.test(step) ? cell[Number(step)] : undefined;
	return isJsonObject(cell) && Object.hasOwn(cell, step) ? cell[step] : undefined;
}
