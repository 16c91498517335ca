import { NESTS, PLACEMENTS, type MappingFields } from './field';

/** A value of an addition that does not go where the others do. */
function placedApart(label: string, what: string) {
	return {
		section: 'Endpoints › POST /v1/dnd_numbers',
		label,
		description: `Where the request that adds a number carries ${what}, if not where the other values are`,
		placeholder: '',
		choices: PLACEMENTS,
		unset: 'Like the Other Values',
	} as const;
}

/** Open in Endpoints › Do not disturb. */
export const DND_FIELDS = {
	dndAddPlacement: {
		section: 'Endpoints › POST /v1/dnd_numbers',
		label: 'Add: Where Values Go',
		description:
			'Where the request that adds a number carries its values. One that goes elsewhere is named below.',
		placeholder: '',
		choices: PLACEMENTS,
	},
	dndAddAgentName: {
		section: 'Endpoints › POST /v1/dnd_numbers',
		label: 'Add: Name of the Agent Value',
		description: `Name under which the request that adds a number carries the agent. ${NESTS}`,
		placeholder: 'e.g. agent_uuid',
	},
	dndAddAgentPlacement: placedApart('Add: Where the Agent Goes', 'the agent'),
	dndAddPhoneName: {
		section: 'Endpoints › POST /v1/dnd_numbers',
		label: 'Add: Name of the Phone Value',
		description: `Name under which the request that adds a number carries the phone number. ${NESTS}`,
		placeholder: 'e.g. phone',
	},
	dndAddPhonePlacement: placedApart('Add: Where the Phone Goes', 'the phone number'),
	dndAddReasonName: {
		section: 'Endpoints › POST /v1/dnd_numbers',
		label: 'Add: Name of the Reason Value',
		description: `Name under which the request that adds a number carries the reason. Leave empty if your service takes none. ${NESTS}`,
		placeholder: 'e.g. reason',
	},
	dndAddReasonPlacement: placedApart('Add: Where the Reason Goes', 'the reason'),
	dndListAgentName: {
		section: 'Endpoints › GET /v1/dnd_numbers',
		label: 'List: Name of the Agent Parameter',
		description: 'Name of the query parameter that chooses the agent whose list is read',
		placeholder: 'e.g. agent_uuid',
	},
	dndListPhoneName: {
		section: 'Endpoints › GET /v1/dnd_numbers',
		label: 'List: Name of the Phone Filter',
		description: 'Name of the query parameter that narrows the list to numbers with these digits',
		placeholder: 'e.g. phone',
	},
	dndListPageName: {
		section: 'Endpoints › GET /v1/dnd_numbers',
		label: 'List: Name of the Page Parameter',
		description: 'Name of the query parameter that chooses the page',
		placeholder: 'e.g. page',
	},
	dndListPerPageName: {
		section: 'Endpoints › GET /v1/dnd_numbers',
		label: 'List: Name of the Page Size Parameter',
		description:
			'Name of the query parameter that sets how many entries a page has. Leave empty to use the service’s own page size.',
		placeholder: 'e.g. per_page',
	},
	dndRemovePhonePlacement: {
		section: 'Endpoints › DELETE /v1/dnd_numbers',
		label: 'Remove: Where the Phone Goes',
		description: 'Where the request that removes a number carries the phone number',
		placeholder: '',
		choices: PLACEMENTS,
	},
	dndRemovePhoneName: {
		section: 'Endpoints › DELETE /v1/dnd_numbers',
		label: 'Remove: Name of the Phone Value',
		description: `Only where your service nests it. Leave empty if it is called phone, as its document says. ${NESTS}`,
		placeholder: 'e.g. entry.phone',
	},
	dndRemoveAgentPlacement: {
		section: 'Endpoints › DELETE /v1/dnd_numbers',
		label: 'Remove: Where the Agent Goes',
		description: 'Where the request that removes a number carries the agent',
		placeholder: '',
		choices: PLACEMENTS,
	},
	dndRemoveAgentName: {
		section: 'Endpoints › DELETE /v1/dnd_numbers',
		label: 'Remove: Name of the Agent Value',
		description: `Name under which the request that removes a number carries the agent. ${NESTS}`,
		placeholder: 'e.g. agent_uuid',
	},
} as const satisfies MappingFields;
