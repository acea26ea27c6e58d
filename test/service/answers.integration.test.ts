import { testAnswers } from "./answers-cases.ts";
import { FastService } from "./fast-client.ts";

testAnswers(() => FastService.start(), { short: "fast", aliases: [] });
