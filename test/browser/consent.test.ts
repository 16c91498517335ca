/** *Consent* in the panel of a node: added as one option, with both of its fields. */
import { PACKAGE } from '../e2e/calls';
import { credentialType } from '../n8n/examples';
import { byId, chain, manualTrigger, node } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { inEditor } from './inEditor';

const { test: account, editor } = inEditor();

it('shows the column and the days together, and Check Only says who has no consent', async () => {
	const row = { phone: '98765 43210', agreed_on: '03/04/2026' };
	const set = { mode: 'raw', jsonOutput: JSON.stringify(row) };
	const rows = node('Rows', 'n8n-nodes-base.set', 3.4, set);
	const parameters = {
		...{ whatToDo: 'check', agentUuid: byId(fixtures.agents.full), countryCode: 'IN' },
		phoneNumber: '={{ $json.phone }}',
	};
	const place = node('Place Call', `${PACKAGE}.placeCall`, 1, parameters, {
		credentials: { [credentialType]: account().credential },
	});
	const workflow = await account().n8n.createWorkflow(
		chain('consent', manualTrigger(), rows, place),
	);
	await editor().openWorkflow(workflow.id);
	await editor().openNode('Place Call');
	await editor().add('Options', 'Consent');
	await editor().write('column', 'agreed_on');
	await editor().write('maxDays', '30');
	await editor().execute();
	await editor().readOutput('no_consent');
	await account().n8n.deleteWorkflow(workflow);
});
