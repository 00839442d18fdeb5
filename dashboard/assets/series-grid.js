"use strict";
observatory.seriesGrid = { show() {} };
