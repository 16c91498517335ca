/** The data tables of n8n, through the REST API of its editor. */
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';
import type { N8nDriver, Reference } from './driver';

export interface Column {
	name: string;
	type: 'string' | 'number' | 'boolean' | 'date';
}

const withId = z.object({ id: z.string() });
const tables = z.object({ data: z.array(z.object({ id: z.string(), name: z.string() })) });
const rowsOfTable = z.object({ data: z.array(z.record(z.unknown())) });

export class DataTables {
	private constructor(
		private readonly n8n: N8nDriver,
		private readonly projectId: string,
	) {}

	/** Those of the owner's personal project, in which the driver creates workflows. */
	static async open(n8n: N8nDriver): Promise<DataTables> {
		const { id } = withId.parse(await n8n.request('GET', '/projects/personal'));
		return new DataTables(n8n, id);
	}

	async find(name: string): Promise<Reference | undefined> {
		const { data } = tables.parse(await this.n8n.request('GET', this.path()));
		return data.find((table) => table.name === name);
	}

	async get(name: string): Promise<Reference> {
		const found = await this.find(name);
		if (found === undefined) throw new Error(`There is no table ${name}`);
		return found;
	}

	async create(name: string, columns: Column[]): Promise<Reference> {
		const body = { name, columns };
		const { id } = withId.parse(await this.n8n.request('POST', this.path(), body));
		return { id, name };
	}

	async insert({ id }: Reference, rows: IDataObject[]): Promise<void> {
		await this.n8n.request('POST', this.path(`/${id}/insert`), { data: rows });
	}

	/** Changes the row with this ID. */
	async update({ id }: Reference, rowId: number, data: IDataObject): Promise<void> {
		const filters = [{ columnName: 'id', condition: 'eq', value: rowId }];
		const body = { filter: { type: 'and', filters }, data };
		await this.n8n.request('PATCH', this.path(`/${id}/rows`), body);
	}

	/** All rows in the order in which they were added, at most 100. */
	async rows({ id }: Reference): Promise<Array<Record<string, unknown>>> {
		const query = 'sortBy=id:asc&take=100';
		const list = await this.n8n.request('GET', this.path(`/${id}/rows?${query}`));
		return rowsOfTable.parse(list).data;
	}

	async remove({ id }: Reference): Promise<void> {
		await this.n8n.request('DELETE', this.path(`/${id}`));
	}

	/** The page of a table in the editor. */
	url({ id }: Reference): string {
		return `${this.n8n.baseUrl}/projects/${this.projectId}/datatables/${id}`;
	}

	private path(rest = ''): string {
		return `/projects/${this.projectId}/data-tables${rest}`;
	}
}
