import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { readExample, recipesFolder, withCredentials } from '../n8n/examples';
import { until } from '../n8n/until';
import { chain, executeSub, manualTrigger, node, type WorkflowJson } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount, type Account } from './account';
import { callIdOf, executionsOf, firstReading, post, published } from './calls';
import { sharedN8n } from './shared';

const APPROVER = '9000000001';

/**
 * Answers each question as soon as it is asked, until the execution has ended.
 *
 * @param answers in the order of the questions; further answers are "yes"
 * @returns the final status of the execution
 */
async function answerQuestions(
	{ n8n, simulator }: Account,
	id: string,
	...answers: string[]
): Promise<string> {
	const answered = new Set<string>();
	return await until(
		`execution ${id} to end`,
		async () => {
			const { status } = await n8n.execution(id);
			if (!['new', 'running', 'waiting'].includes(status)) return status;
			const question = simulator
				.placedCalls()
				.find(({ callId, phone }) => phone === `+91${APPROVER}` && !answered.has(callId));
			if (question === undefined) return undefined;
			answered.add(question.callId);
			const answer = answers.shift() ?? 'yes';
			await simulator.completeCall(question.callId, {
				data_captured: { answer_to_question: answer },
			});
			return undefined;
		},
		{ timeout: 90_000 },
	);
}

/** The small workflows of docs/recipes, as a person imports them and then selects the credential. */
describe('the recipes of the docs', () => {
	const account = useAccount({ isMapped: true });
	const { n8n, simulator } = account;
	const run = new Set<string>();
	afterEach(async () => {
		await account.removeWorkflows();
		simulator.reset();
	});

	/** @param rows of the pinned sheet */
	function read(file: string, rows?: IDataObject[]): WorkflowJson {
		run.add(file);
		const recipe = readExample(file, recipesFolder);
		const pinData = rows && { Sheet: rows.map((json) => ({ json })) };
		const workflow = withCredentials(recipe, account.credentials);
		// The recipes only check their rows, until a person chooses otherwise.
		const nodes = workflow.nodes.map((one) =>
			one.type.endsWith('.pushCampaignContacts')
				? { ...one, parameters: { ...one.parameters, whatToDo: 'release' } }
				: one,
		);
		return { ...workflow, nodes, ...(pinData && { pinData }) };
	}

	const ROWS = [
		{ phone: '9876543210', person_name: 'Asha' },
		{ phone: 'bad', person_name: 'Bela' },
		{ phone: '9876543212', person_name: 'Chand' },
		{ phone: '98765 43210', person_name: 'A.' },
		{ phone: 'also bad', person_name: 'Dev' },
	];
	const STATUSES = ['pushed', 'rejected', 'pushed', 'duplicate', 'rejected'];
	const inCampaign = () =>
		simulator.contactsOf(fixtures.campaigns.active).map(({ phone }) => phone);

	test('push-in-a-loop.json returns each row once to the end of the loop, and calls the manager once', async () => {
		const workflow = await account.create(read('push-in-a-loop.json', ROWS));
		const { id, status } = await n8n.runManually(workflow, 'Start');
		expect(status).toBe('success');
		const { runData } = await n8n.runData(id);
		const done = (runData['Loop Over Items'] ?? []).flatMap(({ data }) => data?.main?.[0] ?? []);
		expect(done.map(({ json }) => json.person_name).sort()).toEqual(
			ROWS.map((row) => row.person_name).sort(),
		);
		expect(runData['Tell the Manager']).toHaveLength(1);
		expect(simulator.callsTo(`+91${APPROVER}`)).toBe(1);
		expect(inCampaign()).toEqual(['+919876543210', '+919876543212']);
	});

	test('push-in-a-sub-workflow.json returns all rows to the workflow that starts it', async () => {
		const sub = await account.publish(read('push-in-a-sub-workflow.json'));
		const jsonOutput = JSON.stringify({ rows: ROWS });
		const sheet = node('Sheet', 'n8n-nodes-base.set', 3.4, { mode: 'raw', jsonOutput });
		const rows = node('Rows', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'rows' });
		const parent = chain('parent', manualTrigger(), sheet, rows, executeSub(sub.id));
		const { id } = await n8n.runManually(await account.create(parent), 'Start');
		const items = (await n8n.output(id, 'Execute')).map(({ json }) => json);
		const statusOf = new Map(items.map((item) => [item.person_name, item.push_status]));
		expect(items).toHaveLength(ROWS.length);
		expect(ROWS.map((row) => statusOf.get(row.person_name))).toEqual(STATUSES);
	});

	test('ask-for-each-row.json asks the same person about each row, and passes on the approved ones', async () => {
		const workflow = await account.create(read('ask-for-each-row.json', ROWS.slice(0, 3)));
		await n8n.startManually(workflow, 'Start');
		const id = await account.executionOf(workflow);
		expect(await answerQuestions(account, id, 'yes', 'no', 'yes')).toBe('success');
		const questions = simulator.placedCalls().map(({ request }) => request?.data_extraction);
		expect(questions).toMatchObject(
			['Asha', 'Bela', 'Chand'].map((name) => [{ description: `May we call ${name}?` }]),
		);
		const approved = await n8n.output(id, 'Approved');
		expect(approved.map(({ json }) => json.person_name)).toEqual(['Asha', 'Chand']);
	});

	test('both-triggers.json continues once for a call that both triggers find', async () => {
		const webhookId = randomUUID();
		const recipe = read('both-triggers.json');
		const nodes = recipe.nodes.map((one) =>
			one.type.endsWith('callCompletedTrigger') ? { ...one, webhookId } : one,
		);
		const workflow = await account.publish({ ...recipe, nodes });
		await firstReading(n8n, workflow);
		await published(n8n, workflow);
		const url = `${sharedN8n().baseUrl}/webhook/${webhookId}/call-completed`;
		const callId = simulator.addAttempt(fixtures.campaigns.active, 'picked');
		await simulator.endCall(callId);
		await until('the report', async () => (await post(url, { call_id: callId })).status === 200);
		// Publishing begins with a reading, and others are a minute apart.
		await n8n.deactivate(workflow);
		await n8n.activate(workflow);
		const starts = await executionsOf(n8n, workflow, 'Remove Duplicates', 2);
		expect(starts.map(callIdOf)).toEqual([callId]);
	});

	test('campaign-completed.json continues once for each contact list that is completed', async () => {
		const workflow = await account.create(read('campaign-completed.json'));
		const check = async () => {
			const { id } = await n8n.runManually(workflow, 'Every 15 Minutes');
			const { runData } = await n8n.runData(id);
			const next = (runData.Next ?? []).flatMap(({ data }) => data?.main?.[0] ?? []);
			return next.map(({ json }) => json.lists_completed);
		};
		expect([await check(), await check()]).toEqual([[1], []]);
		simulator.completeUpload(fixtures.uploads.running);
		expect([await check(), await check()]).toEqual([[2], []]);
	});

	test('are all run, and the docs link to each', () => {
		const files = readdirSync(recipesFolder).sort();
		expect([...run].sort()).toEqual(files);
		const docs = dirname(recipesFolder);
		const pages = readdirSync(docs).filter((file) => file.endsWith('.md'));
		const text = pages.map((file) => readFileSync(join(docs, file), 'utf8')).join('');
		expect(files.filter((file) => !text.includes(`](recipes/${file})`))).toEqual([]);
	});
});
