import get from 'lodash/get';
import isMatch from 'lodash/isMatch';
import { isJsonObject } from '../../nodes/shared/json';
import { packageName } from '../n8n/package-install';
import { until } from '../n8n/until';
import { chain, manualTrigger, node } from '../n8n/workflow';
import { inEditor } from './inEditor';

const NODE = 'Place Call';
const HOURS = 'Calling Hours';
const LIMIT = 'Limit Calls per Person';
const ZONE = 'Asia/Kolkata';

describe('options with fields of their own', () => {
	const { test, editor } = inEditor();
	const savedOptions = async (id: string): Promise<object> => {
		const saved = await test().n8n.request('GET', `/workflows/${id}`);
		const options: unknown = get(saved, ['nodes', 1, 'parameters', 'options']);
		return isJsonObject(options) ? options : {};
	};

	it.each(['place', 'sendAndWait'])(
		'stay when they are added, removed, added again, saved, and loaded: %s',
		async (operation) => {
			const { page } = editor();
			const placeCall = node(NODE, `${packageName}.placeCall`, 1, { operation });
			const workflow = await test().n8n.createWorkflow(chain('nested', manualTrigger(), placeCall));
			await editor().openWorkflow(workflow.id);
			await editor().openNode(NODE);
			const group = (name: string) => page.getByTestId(`fixed-collection-${name}`);
			const field = (name: string, parameter: string) =>
				group(name).getByTestId(`parameter-input-${parameter}`).locator('input');

			// Added with their fields open, also if another one is added.
			await editor().add('Options', HOURS);
			await field('callingHours', 'from').fill('09:00');
			await editor().add('Options', LIMIT);
			await field('callLimit', 'maximumCalls').fill('3');
			expect(await field('callingHours', 'from').inputValue()).toBe('09:00');

			// Emptied, it stays and stops the node. Filled again, or removed and added again, it has its fields.
			await group('callLimit').hover();
			await group('callLimit').getByTestId('fixed-collection-delete').click();
			await group('callLimit').getByText('Currently no items exist').waitFor();
			await group('callLimit').getByTestId('fixed-collection-add').click();
			await field('callLimit', 'maximumCalls').fill('2');
			await group('callingHours').hover();
			await group('callingHours').locator('xpath=..').getByTitle('Delete', { exact: true }).click();
			await group('callingHours').waitFor({ state: 'detached' });
			await editor().add('Options', HOURS);
			await field('callingHours', 'from').fill('10:00');
			expect(await field('callLimit', 'maximumCalls').inputValue()).toBe('2');
			await group('callingHours').getByTestId('parameter-input-days').click();
			await page.getByRole('option', { name: 'Saturday' }).click();
			await page.keyboard.press('Tab');
			await page.getByTestId('resource-locator-timeZone').locator('input').last().click();
			await page.keyboard.type('kolkata');
			await page.getByTestId('rlc-item').filter({ hasText: ZONE }).first().click();

			await page.keyboard.press('Tab');
			await page.keyboard.press('Escape');
			await page.keyboard.press('Control+s');
			const expected = {
				callingHours: {
					hours: {
						days: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'],
						from: '10:00',
						timeZone: { __rl: true, mode: 'list', value: ZONE },
					},
				},
				callLimit: { limit: { maximumCalls: 2 } },
			};
			await until('the workflow to be saved', async () =>
				isMatch(await savedOptions(workflow.id), expected),
			);
			await editor().openWorkflow(workflow.id);
			await editor().openNode(NODE);
			expect(await field('callingHours', 'from').inputValue()).toBe('10:00');
			expect(await field('callLimit', 'maximumCalls').inputValue()).toBe('2');
			await test().n8n.deleteWorkflow(workflow);
		},
	);
});
