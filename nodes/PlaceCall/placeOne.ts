import type { INodeExecutionData } from 'n8n-workflow';
import { readAdditions } from '../shared/n8n/additions';
import { asItems } from '../shared/n8n/itemLoop';
import { buildCallRequest, type CallFields } from '../shared/service/callRequest';
import { placeCall } from '../shared/service/endpoints';
import { recordOf } from '../shared/service/envelope';
import { OutcomeUnknown } from '../shared/service/explained';
import type { Service } from '../shared/service/service';
import type { CallRequest, JsonObject } from '../shared/service/types';

/** Places the call of one item and returns what the service says of it. */
export async function placeOne(
	service: Service,
	fields: CallFields,
	options: JsonObject,
): Promise<INodeExecutionData[]> {
	const request = buildCallRequest(fields);
	const legacy = options.useLegacyEndpoint === true;
	try {
		const answer = await placeCall(service, request, { ...readAdditions(options), legacy });
		return asItems(recordOf(answer));
	} catch (error) {
		throw error instanceof OutcomeUnknown ? maybePlaced(request, error) : error;
	}
}

/** Names the call whose fate is open, and where to see whether it was placed. */
function maybePlaced(request: CallRequest, error: OutcomeUnknown): OutcomeUnknown {
	const { phone_number: phone, country_code: country } = request;
	return new OutcomeUnknown(
		`${error.message} (call to ${phone}, ${country})`,
		`The call was not sent a second time. Look for ${phone} in the calls of your dashboard before you run this item again.`,
		error.serviceSaid,
		error.status,
	);
}
