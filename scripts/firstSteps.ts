/** *First steps* of `npm start`: one click checks sample rows for a campaign of the simulated service. */
import type { INode } from 'n8n-workflow';
import { credentialType } from '../test/n8n/examples';
import type { Reference } from '../test/n8n/driver';
import { packageName } from '../test/n8n/package-install';
import { byId, chain, node, type WorkflowJson } from '../test/n8n/workflow';
import { fixtures } from '../test/simulator';

const leads = [
	{ phone: '+91 98765 43210', person_name: 'Asha Rao', city: 'Pune' },
	{ phone: '09812 345 678', person_name: 'Vikram Iyer', city: 'Chennai' },
	{ phone: 9.898989898e9, person_name: 'Meera Nair', city: 'Kochi' },
	{ phone: '98765-43210', person_name: 'A. Rao', city: 'Pune' },
	{ phone: '12345', person_name: 'Rohan Das', city: 'Kolkata' },
];

const note = `## First steps
1. Choose **Execute workflow** below.
2. Open **Push Campaign Contacts**. *Ready* has the rows that can be pushed, *Rejected* what to correct, and *Skipped* a duplicate.
3. In **What to Do**, choose **Add and Release**, and choose **Execute step**. *Pushed* has the rows that are called now. If you execute it again, *Skipped* has them: nobody is added twice.
4. A minute later, **Data tables > Call Outcomes** has the outcomes of the calls.

The service is simulated, so no one is called. To push your own leads, use the examples 01 and 02.`;

export function firstSteps(credential: Reference): WorkflowJson {
	const push = node(
		'Push Campaign Contacts',
		`${packageName}.pushCampaignContacts`,
		1,
		{
			campaignId: byId(fixtures.campaigns.active),
			agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
			options: {},
		},
		{ credentials: { [credentialType]: credential } },
	);
	const workflow = chain(
		'First steps: check and push five sample rows',
		node('Start Here', 'n8n-nodes-base.manualTrigger', 1),
		node('Sample Leads', 'n8n-nodes-base.set', 3.4, {
			mode: 'raw',
			jsonOutput: JSON.stringify({ leads }, null, 2),
		}),
		node('One Item per Lead', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'leads' }),
		push,
	);
	const sticky = node('How to Use', 'n8n-nodes-base.stickyNote', 1, {
		content: note,
		width: 560,
		height: 290,
	});
	return { ...workflow, nodes: [...workflow.nodes.map(inRow), { ...sticky, position: [0, -350] }] };
}

function inRow(oneNode: INode, index: number): INode {
	return { ...oneNode, position: [index * 220, 0] };
}
