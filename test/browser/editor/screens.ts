import type { Account } from '../../e2e/account';
import { connect, manualTrigger, type Arrow } from '../../n8n/workflow';
import { dialects, fixtures } from '../../simulator';
import type { Editor } from '../editor';

/** Counted with Operation, without notices. */
const MOST_FIELDS = 9;
const { takeOver } = dialects.plain.chat.commands;
const FIRST_COLUMNS = [
	...['person_name', 'phone_number', 'outcome', 'summary', 'tag', 'created_at', 'call_id'],
];

/** The name of a node, its type, and its parameters. */
const FORMS = [
	['Place Call', 'placeCall', {}],
	['Ask and Wait', 'placeCall', { operation: 'askAndWait' }],
	['Push Campaign Contacts', 'pushCampaignContacts', {}],
	['Get Many Calls', 'getCall', { operation: 'getMany' }],
	['Support Command', 'chatSession', { resource: 'session', operation: 'supportCommand' }],
] as const;

/** What a person sees of a form before anything is entered, and of a result. */
export function screens(account: Account, editor: () => Editor): void {
	beforeAll(async () => {
		const start = manualTrigger();
		const nodes = FORMS.map(([name, type, parameters], index) => ({
			...account.ours(name, type, parameters),
			...{ position: [300, index * 200] satisfies [number, number] },
		}));
		const workflow = await account.create({
			name: 'screens',
			nodes: [start, ...nodes],
			connections: connect(FORMS.map(([name]): Arrow => [start.name, name])),
		});
		await editor().openWorkflow(workflow.id);
	});
	afterEach(async () => {
		await editor().page.getByTestId('ndv-close-button').click();
		expect(editor().errors.splice(0)).toEqual([]);
	});

	it.each(FORMS)('%s shows at most nine fields, and its options in order', async (name) => {
		const { page } = editor();
		await editor().openNode(name);
		const form = page.getByTestId('node-parameters');
		const fields = form.locator('.parameter-item:not(.notice)').filter({ visible: true });
		await fields.first().waitFor();
		expect(await fields.count()).toBeLessThanOrEqual(MOST_FIELDS);
		await editor().collection('Options').getByTestId('collection-parameter-add').click();
		const options = page.getByTestId('collection-parameter-option').filter({ visible: true });
		await options.first().waitFor();
		const names = await options.allTextContents();
		expect(names.map((option) => option.trim())).toEqual(
			names.map((option) => option.trim()).sort(),
		);
		await page.keyboard.press('Escape');
	});

	it('a call is a row that begins with the person and the outcome', async () => {
		const { page } = editor();
		await editor().openNode('Get Many Calls');
		await editor().execute();
		await editor().readOutput('Answered');
		const headers = page.getByTestId('output-panel').locator('th');
		const columns = (await headers.allTextContents()).map((text) => text.trim());
		expect(columns.slice(0, FIRST_COLUMNS.length)).toEqual(FIRST_COLUMNS);
	});

	it("Support Command says who names the service's word that hands a chat to a person, and sends it", async () => {
		const { page } = editor();
		await editor().openNode('Support Command');
		const label = page.getByTestId('input-label').filter({ hasText: 'Command' }).last();
		await label.hover();
		await label.locator('svg').first().hover();
		await page.getByText('Your provider names it in the questionnaire').first().waitFor();
		await editor().write('sessionId', fixtures.sessions.open);
		await editor().write('command', takeOver);
		await editor().execute();
		await editor().readOutput(fixtures.sessions.open);
		const sent = account.simulator.requests.findLast(({ path }) => path.endsWith('/support'));
		expect(sent?.body).toMatchObject({ command: takeOver });
	});
}
