/** The examples with data tables in `npm start`, published: 12 with a dozen people, and 16 for the outcomes of all calls. */
import type { IDataObject, INode } from 'n8n-workflow';
import { z } from 'zod';
import { DataTables } from '../test/n8n/dataTables';
import type { N8nDriver, Reference } from '../test/n8n/driver';
import { credentialType, readExample, withCredentials } from '../test/n8n/examples';
import type { WorkflowJson } from '../test/n8n/workflow';
import { fixtures } from '../test/simulator';

const CAMPAIGN = '12-campaign-on-data-table.json';
const OUTCOMES = '16-call-outcomes-to-table.json';

/** The last digit of a number decides the outcome of its simulated calls. */
export const people: IDataObject[] = [
	{ person_name: 'Asha Rao', phone: '98765 43210', city: 'Pune' },
	{ person_name: 'Vikram Iyer', phone: '+91 98120 34561', city: 'Chennai' },
	{ person_name: 'Meera Nair', phone: '09812034562', city: 'Kochi' },
	{ person_name: 'Sunita Das', phone: '98120-34567', city: 'Kolkata' },
	{ person_name: 'Farah Ali', phone: '9812034564', city: 'Mumbai' },
	{ person_name: 'Leela Nair', phone: '98120 34568', city: 'Kochi' },
	{ person_name: 'Imran Khan', phone: '9812034565', city: 'Delhi' },
	{ person_name: 'Anil Joshi', phone: '9812034569', city: 'Pune' },
	{ person_name: 'Gopal Menon', phone: fixtures.dndPhone, city: 'Thrissur' },
	{ person_name: 'Nisha Gill', phone: '022 1234', city: 'Amritsar' },
	{ person_name: 'Dev Patel', phone: '9812034577', city: 'Surat' },
	{ person_name: 'Rohan Das', phone: '9812034563', city: 'Kolkata' },
];

/** The second call comes after 6 seconds, at any time of day. Nobody is called, because the service is simulated. */
const TRIAL = {
	minutes_to_second_call: 0.1,
	calling_days: 'monday, tuesday, wednesday, thursday, friday, saturday, sunday',
	calling_from: '00:00',
	calling_to: '24:00',
};

const settingsNode = z.object({
	assignments: z.object({ assignments: z.array(z.object({ name: z.string() }).passthrough()) }),
});

/** Changes only the times in the example's settings. */
export function withTrialTimes(node: INode): INode {
	if (node.name !== 'Settings') return node;
	const { assignments } = settingsNode.parse(node.parameters).assignments;
	const changed = assignments.map((one) => ({ ...one, ...trialValue(one.name) }));
	return { ...node, parameters: { ...node.parameters, assignments: { assignments: changed } } };
}

function trialValue(name: string): { value?: string | number } {
	const value = new Map<string, string | number>(Object.entries(TRIAL)).get(name);
	return value === undefined ? {} : { value };
}

export interface WithTable {
	workflow: Reference;
	/** The page of the data table. */
	table: string;
}

/** Existing tables and workflows keep their content. */
export async function provideCampaign(n8n: N8nDriver, credential: Reference): Promise<WithTable> {
	return await provide(n8n, credential, readExample(CAMPAIGN), 'Leads Table', people);
}

export async function provideOutcomes(n8n: N8nDriver, credential: Reference): Promise<WithTable> {
	return await provide(n8n, credential, readExample(OUTCOMES), 'Outcomes Table', []);
}

/** @param creator the node that creates the table if it's missing */
async function provide(
	n8n: N8nDriver,
	credential: Reference,
	example: WorkflowJson,
	creator: string,
	rows: IDataObject[],
): Promise<WithTable> {
	const table = await provideTable(n8n, tableOf(example, creator), rows);
	const known = (await n8n.workflows()).find(({ name }) => name === example.name);
	if (known === undefined) {
		const json = withCredentials(example, { [credentialType]: credential });
		const nodes = json.nodes.map(withTrialTimes);
		const workflow = await n8n.createWorkflow({ ...json, nodes });
		await n8n.activate(workflow);
		return { workflow, table };
	}
	const workflow = await n8n.workflow(known.id);
	if (workflow.active) {
		// The trigger started with the URL of an earlier simulated service.
		await n8n.deactivate(workflow);
		await n8n.activate(workflow);
	}
	return { workflow, table };
}

async function provideTable(
	n8n: N8nDriver,
	{ tableName, columns }: TableNode,
	rows: IDataObject[],
): Promise<string> {
	const tables = await DataTables.open(n8n);
	const known = await tables.find(tableName);
	if (known !== undefined) return tables.url(known);
	const table = await tables.create(tableName, columns.column);
	if (rows.length > 0) await tables.insert(table, rows);
	return tables.url(table);
}

const tableNode = z.object({
	tableName: z.string(),
	columns: z.object({
		column: z.array(
			z.object({ name: z.string(), type: z.enum(['string', 'number', 'boolean', 'date']) }),
		),
	}),
});

type TableNode = z.infer<typeof tableNode>;

function tableOf({ nodes }: WorkflowJson, creator: string): TableNode {
	return tableNode.parse(nodes.find(({ name }) => name === creator)?.parameters);
}
