import { type SectionEntries, contract, inNode, inTest } from '../entry';

const fields = inNode('PushCampaignContacts/fields');
const simulator = inNode('PushCampaignContacts/simulator');
const dnd = contract('dnd');
const progress = inTest('contract/campaignProgress');

const wholeAnswer = {
	at: 'Campaign Status → output',
	test: contract('campaignStatus')('gives the whole answer, with what the document does not name'),
};

const contacts: SectionEntries = {
	section: 'POST /v1/campaigns/{id}/contacts',
	every: {
		at: 'Push Campaign Contacts → Pushed → output',
		test: [
			fields('rows become contacts, and the service’s whole answer comes out'),
			contract('pushCampaignContacts')('adds the contacts'),
		],
	},
	items: {
		agent_uuid: 'Push Campaign Contacts → Agent',
		contacts: 'nodes/PushCampaignContacts/feed/contact.ts: a row becomes a contact',
		enqueue: {
			at: 'Push Campaign Contacts → Release to Calling Queue',
			test: fields("test('Release to Calling Queue'"),
		},
		engine_skipped_duplicates: inNode('PushCampaignContacts/feed/skippedRows')(
			'is the row in whichever form it was sent',
		),
		dnd_skipped: simulator('a number on the do-not-disturb list comes out of Rejected'),
		warnings: simulator('a paused campaign takes the contacts and warns'),
		'1.': {
			at: 'Push Campaign Contacts → Options → Normalize Phone Numbers',
			test: [
				inNode('shared/phone/campaignPhone')("['documented form', "),
				inNode('PushCampaignContacts/outcomes')('It said: contacts[1].phone is invalid'),
				inNode('PushCampaignContacts/feed/namedRows')(
					'any bad rows are rejected, each good one is in once',
				),
			],
		},
		'2.': {
			at: 'Push Campaign Contacts → Options → Remove Duplicates',
			test: inNode('PushCampaignContacts/options')(
				'Remove Duplicates leaves the longer name and counts',
			),
		},
		'3.': { at: 'Push Campaign Contacts → Other Columns', test: fields("['listed', 'City, plan'") },
		'4.': {
			at: 'nodes/shared/api/errorTable.ts: says to attach a number',
			test: simulator("['no number', {"),
		},
		'5.': {
			at: 'Push Campaign Contacts → Pushed → output: warnings',
			test: [
				simulator('a paused campaign takes the contacts and warns'),
				contract('pushCampaignContacts')('is turned down by an archived campaign'),
			],
		},
		'6.': {
			at: 'Push Campaign Contacts → Rejected → output: do_not_disturb',
			test: simulator('a number on the do-not-disturb list comes out of Rejected'),
		},
	},
};

const campaignStates: SectionEntries = {
	section: 'Campaign status',
	items: {
		'Campaign activated': {
			at: 'Campaign Progress Trigger → Trigger On → output',
			test: progress('a campaign that is activated'),
		},
		'Campaign paused': {
			at: 'Campaign Progress Trigger → Trigger On → output',
			test: progress('what happened since the last look, once'),
		},
		'1.': {
			at: 'nodes/shared/api/errorTable.ts: an archived campaign takes no contacts',
			test: contract('pushCampaignContacts')('is turned down by an archived campaign'),
		},
		'2.': {
			at: 'Push Campaign Contacts → Pushed → output: warnings',
			test: simulator('a paused campaign takes the contacts and warns'),
		},
		'3.': {
			at: 'nodes/shared/apiMapping/places.ts: no node changes a campaign',
			test: inNode('shared/apiMapping/places')('each open place has one entry'),
		},
	},
};

const lists: SectionEntries[] = [
	{ section: 'Campaign', every: wholeAnswer },
	{ section: 'Campaign upload (contact list)', every: wholeAnswer },
	{ section: 'GET /v1/campaigns/{id}/status', every: wholeAnswer },
	{
		section: 'Contact (item of `contacts` when adding campaign contacts)',
		every: {
			at: 'Push Campaign Contacts → Phone Column',
			test: fields('rows become contacts, and the service’s whole answer comes out'),
		},
		items: { person_name: 'Push Campaign Contacts → Person Name Column' },
	},
	{
		section: 'DND entry',
		every: { at: 'DND List → Get Many → output', test: dnd('reads every page of the list') },
	},
	{
		section: 'GET /v1/dnd_numbers',
		every: {
			at: 'nodes/Dnd/list/dndList.ts: reads page after page',
			test: [
				inNode('Dnd/list/dndList')('to the last one of meta, and no further'),
				dnd('reads every page of the list'),
			],
		},
		items: {
			total_count: 'nodes/Dnd/list/dndList.ts: not needed, total_pages ends the reading',
			per_page: 'nodes/Dnd/list/dndList.ts: not needed, total_pages ends the reading',
		},
	},
	{
		section: 'DELETE /v1/dnd_numbers',
		every: { at: 'DND List → Remove → output', test: dnd("title: 'removes a number'") },
		items: {
			phone: 'DND List → Phone',
			success: 'nodes/shared/api/envelope.ts: tells a refusal from a success',
		},
	},
];

export const campaignEntries: SectionEntries[] = [contacts, campaignStates, ...lists];
