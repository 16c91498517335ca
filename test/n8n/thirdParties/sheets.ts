import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { SignIn } from './signIn';

type Cell = string | number | boolean;
type Row = Record<string, Cell>;

const cells = z.array(z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])));
const written = z.object({ range: z.string(), values: cells });
const batch = z.object({ data: z.array(written) });
const inputMode = z.object({ valueInputOption: z.enum(['RAW', 'USER_ENTERED']) });
const renderMode = z.object({ valueRenderOption: z.string() });

class Rejection extends Error {
	constructor(
		readonly status: number,
		message: string,
	) {
		super(message);
	}
}

/** sheets.googleapis.com: one spreadsheet, with tabs that are grids of cells. */
export class Sheets {
	private readonly tabs = new Map<string, Cell[][]>();
	private id = '';

	constructor(private readonly signIn: SignIn) {}

	/** Replaces the spreadsheet. Each tab is a list of rows. The first row has the column names. */
	setSpreadsheet(id: string, tabs: Record<string, Cell[][]>): void {
		this.reset();
		this.id = id;
		for (const [name, rows] of Object.entries(tabs)) this.tabs.set(name, structuredClone(rows));
	}

	/** Enters values into a row as a person does, starting at this cell. */
	type(tab: string, cell: string, values: Cell[]): void {
		this.write({ range: `${tab}!${cell}`, values: [values] }, true);
	}

	reset(): void {
		this.tabs.clear();
		this.id = '';
	}

	/** The cells of a tab. */
	cells(tab: string): readonly Cell[][] {
		return this.grid(tab);
	}

	/** The rows of a tab as objects, without the header row. */
	rows(tab: string): Row[] {
		const [names = [], ...rows] = this.grid(tab);
		return rows.map((row) =>
			Object.fromEntries(names.map((name, column) => [String(name), row[column] ?? ''])),
		);
	}

	readonly routes = async (app: FastifyInstance): Promise<void> => {
		app.route({
			method: ['GET', 'PUT', 'POST'],
			url: '/v4/spreadsheets/*',
			handler: async (request, reply) => await this.handle(request, reply),
		});
		await Promise.resolve();
	};

	private async handle(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
		try {
			if (!this.signIn.isSignedIn(request))
				throw new Rejection(401, 'Request had invalid credentials');
			return await Promise.resolve(this.resultOf(request));
		} catch (error) {
			const code = error instanceof Rejection ? error.status : 400;
			return await reply.code(code).send({ error: { code, message: String(error) } });
		}
	}

	private resultOf({ method, url, body, query }: FastifyRequest): unknown {
		const path = decodeURIComponent(url.replace(/^\/v4\/spreadsheets\/|\?.*/g, ''));
		const [, id = '', rest = ''] = /^([\w-]+)(.*)$/.exec(path) ?? [];
		if (id !== this.id) throw new Rejection(404, 'Requested entity was not found.');
		const range = rest.replace('/values/', '');
		if (rest === '') return this.properties();
		// Adds empty rows, which these grids don't need.
		if (rest === ':batchUpdate') return { replies: [] };
		if (rest === '/values:batchUpdate') return this.writeAll(body);
		if (method === 'PUT' || range.endsWith(':append')) {
			const { valueInputOption } = inputMode.parse(query);
			const part = written.parse(body);
			// Append below the last row, whatever the range.
			if (method === 'POST') part.range = this.below(part.range);
			this.write(part, valueInputOption === 'USER_ENTERED');
			return { updatedRange: part.range };
		}
		return this.read(range, renderMode.parse(query).valueRenderOption);
	}

	private properties(): object {
		const gridProperties = { rowCount: 1000, columnCount: 26 };
		return {
			sheets: [...this.tabs.keys()].map((title, index) => ({
				properties: { sheetId: index, title, index, gridProperties },
			})),
		};
	}

	private read(range: string, rendered: string): object {
		const { grid, row, lastRow } = this.find(range);
		const found = grid.slice(row, lastRow).map((cellsOfRow) => {
			const shown = rendered === 'FORMATTED_VALUE' ? cellsOfRow.map(String) : [...cellsOfRow];
			while (shown.at(-1) === '') shown.pop();
			return shown;
		});
		return { range, majorDimension: 'ROWS', ...(found.length > 0 && { values: found }) };
	}

	private writeAll(body: unknown): object {
		const { data } = batch.parse(body);
		const { valueInputOption } = inputMode.parse(body);
		for (const part of data) this.write(part, valueInputOption === 'USER_ENTERED');
		return { totalUpdatedCells: data.length };
	}

	private write({ range, values }: z.infer<typeof written>, isUserEntered: boolean): void {
		const { grid, row, column } = this.find(range);
		values.forEach((newCells, down) => {
			const at = row + down;
			while (grid.length <= at) grid.push([]);
			const line = grid[at] ?? [];
			newCells.forEach((cell, right) => {
				while (line.length <= column + right) line.push('');
				// Null in a request leaves the cell unchanged.
				if (cell !== null) line[column + right] = isUserEntered ? parseEntered(cell) : cell;
			});
		});
	}

	private below(range: string): string {
		const [tab = ''] = range.split('!');
		return `${tab}!A${this.grid(tab).length + 1}`;
	}

	/** `Tab`, `Tab!A:Z`, `Tab!3:5` or `Tab!C7`. */
	private find(range: string) {
		const [tab = '', part = ''] = range.replace(/^'(.*)'$/, '$1').split('!');
		const match = /^([A-Z]*)(\d*)(?::([A-Z]*)(\d*))?$/.exec(part);
		if (match === null) throw new Rejection(400, `Unable to parse range: ${range}`);
		const [, letters = '', from = '1', , to = from] = match;
		const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
		return {
			grid: this.grid(tab),
			row: Number(from || 1) - 1,
			lastRow: to === '' || part === '' ? undefined : Number(to),
			column: Math.max(0, column - 1),
		};
	}

	private grid(tab: string): Cell[][] {
		const grid = this.tabs.get(tab);
		if (!grid) throw new Rejection(400, `Unable to parse range: ${tab}`);
		return grid;
	}
}

/** Parses text that a person enters into a cell: `+919876543210` becomes a number. */
function parseEntered(cell: Cell): Cell {
	return typeof cell === 'string' && /^[+-]?\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell;
}
