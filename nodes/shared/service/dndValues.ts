import type { Additions } from './endpoints';
import type { OpenDetails } from './openDetails';

type Placed = { placement: string; name: string; value: string };

/**
 * The values of an addition, named and placed as the credential says.
 *
 * @throws MissingOpenDetail before anything is sent
 */
export function valuesToAdd(
	details: OpenDetails,
	values: { agentUuid: string; phone: string; reason: string },
): Additions {
	const placement = details.required('dndAddPlacement');
	const placed: Placed[] = [
		{ placement, name: details.required('dndAddAgentName'), value: values.agentUuid },
		{ placement, name: details.required('dndAddPhoneName'), value: values.phone },
	];
	if (values.reason !== '') {
		placed.push({ placement, name: details.required('dndAddReasonName'), value: values.reason });
	}
	return place(placed);
}

/** The values of a removal; `phone` is documented, where it goes is not. */
export function valuesToRemove(
	details: OpenDetails,
	values: { agentUuid: string; phone: string },
): Additions {
	return place([
		{ placement: details.required('dndRemovePhonePlacement'), name: 'phone', value: values.phone },
		{
			placement: details.required('dndRemoveAgentPlacement'),
			name: details.required('dndRemoveAgentName'),
			value: values.agentUuid,
		},
	]);
}

function place(values: Placed[]): Additions {
	const additions: Additions = {};
	for (const { placement, name, value } of values) {
		if (placement === 'query') additions.query = { ...additions.query, [name]: value };
		else additions.body = { ...additions.body, [name]: value };
	}
	return additions;
}
