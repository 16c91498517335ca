import { until } from '../n8n/until';
import { chain, manualTrigger, node } from '../n8n/workflow';
import { PACKAGE } from '../e2e/calls';
import { withOpenNode } from './inEditor';

const NODE = 'Push Campaign Contacts';
const row = {
	phone: '1',
	'Full Name': 'Asha Rao',
	properties: { phone: '9000000001', city: 'Pune' },
};

describe('dragging a column into a field of Push Campaign Contacts', () => {
	const { editor } = withOpenNode(NODE, () => {
		const rows = { mode: 'raw', jsonOutput: JSON.stringify(row) };
		const make = node('Rows', 'n8n-nodes-base.set', 3.4, rows);
		const push = node(NODE, `${PACKAGE}.pushCampaignContacts`, 1, { otherColumns: 'listed' });
		return chain('columns', manualTrigger(), make, push);
	});
	beforeAll(async () => {
		await editor().page.getByText('Execute previous nodes').first().click();
	});

	/** Drags a column from the input to a field. Returns the text of the field. */
	async function drag(path: string, field: string): Promise<string> {
		const { page } = editor();
		const pill = page.getByTestId('ndv-input-panel').locator(`.pill[data-path="${path}"]`).first();
		const target = page.getByTestId(`parameter-input-${field}`).first();
		await pill.waitFor();
		await pill.hover();
		await page.mouse.down();
		const box = await target.boundingBox();
		if (box === null) throw new Error(`${field} is not on the screen`);
		await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 15 });
		await editor().letTimersEnd(300);
		const text = async () => await target.locator('input').first().inputValue();
		const before = await text();
		await page.mouse.up();
		return await until('the new text', async () => {
			const after = await text();
			return after !== before && after;
		});
	}

	it.each([
		// The field contains "phone" at first.
		['.properties.phone', 'phoneColumn', 'properties.phone'],
		['.phone', 'phoneColumn', 'phone'],
		["['Full Name']", 'personNameColumn', 'Full Name'],
		["['Full Name']", 'columnsToSend', "['Full Name']"],
		['.properties.city', 'columnsToSend', "['Full Name'], properties.city"],
	])('%s into %s inserts the column name', async (path, field, name) => {
		expect(await drag(path, field)).toBe(name);
	});
});
