import { addDndNumber, removeDndNumber, type Additions } from '../../shared/api/endpoints';
import { recordOf } from '../../shared/api/envelope';
import { isRejection, OutcomeUnknown } from '../../shared/api/errors';
import type { ApiMapping } from '../../shared/apiMapping';
import { placeValues } from '../../shared/apiMapping/placeValues';
import type { ApiClient } from '../../shared/api/client';
import type { JsonObject } from '../../shared/json';

/**
 * The values of an addition, named and placed as the credential says.
 *
 * @throws MissingMapping before anything is sent
 */
export function valuesToAdd(
	details: ApiMapping,
	{ agentUuid, phone, reason }: { agentUuid: string; phone: string; reason: string },
): Additions {
	const added = [
		{ name: 'dndAddAgentName', placement: 'dndAddAgentPlacement', value: agentUuid },
		{ name: 'dndAddPhoneName', placement: 'dndAddPhonePlacement', value: phone },
		{ name: 'dndAddReasonName', placement: 'dndAddReasonPlacement', value: reason },
	] as const;
	const given = added.filter(({ value }) => value !== '');
	const arePlaced = given.every(({ placement }) => details.optional(placement) !== undefined);
	details.require([
		...(arePlaced ? [] : (['dndAddPlacement'] as const)),
		...given.map(({ name }) => name),
	]);
	return placeValues(
		given.map(({ name, placement, value }) => ({
			placement: details.optional(placement) ?? details.required('dndAddPlacement'),
			name: details.required(name),
			value,
		})),
	);
}

/** The values of a removal; `phone` is documented, where it goes is not. */
export function valuesToRemove(
	details: ApiMapping,
	{ agentUuid, phone }: { agentUuid: string; phone: string },
): Additions {
	details.require(['dndRemovePhonePlacement', 'dndRemoveAgentPlacement', 'dndRemoveAgentName']);
	return placeValues([
		{
			placement: details.required('dndRemovePhonePlacement'),
			name: details.optional('dndRemovePhoneName') ?? 'phone',
			value: phone,
		},
		{
			placement: details.required('dndRemoveAgentPlacement'),
			name: details.required('dndRemoveAgentName'),
			value: agentUuid,
		},
	]);
}

/** Adds a number; what the service answers is open and passes through. */
export async function addNumber(
	client: ApiClient,
	phone: string,
	values: Additions,
	additions: Additions,
): Promise<JsonObject> {
	const answer = await addDndNumber(client, values, additions).catch(withNumberOf(phone));
	return recordOf(answer);
}

/** Removes a number; `lenient` takes one that is not listed for removed, as workflows run again. */
export async function removeNumber(
	client: ApiClient,
	phone: string,
	values: Additions,
	additions: Additions,
	lenient: boolean,
): Promise<JsonObject> {
	const removal = removeDndNumber(client, values, additions).catch(withNumberOf(phone));
	return await removal.then(
		(answer) => ({ was_listed: true, ...recordOf(answer) }),
		(error: unknown) => {
			if (!lenient || !isRejection(error, 'not_on_dnd_list')) throw error;
			return { was_listed: false, message: error.originalMessage ?? '' };
		},
	);
}

function withNumberOf(phone: string) {
	return (error: unknown): never => {
		throw error instanceof OutcomeUnknown ? withNumber(phone, error) : error;
	};
}

/** Names the number whose change has an unknown outcome, and how to find out. */
export function withNumber(phone: string, error: OutcomeUnknown): OutcomeUnknown {
	return error.withText({
		message: `${error.message} (${phone})`,
		resolution: {
			onScreen: `It was not sent a second time. DND List → Check tells whether ${phone} is on the list now; try again only if need be.`,
			forModel: 'It was not sent a second time.',
		},
	});
}
